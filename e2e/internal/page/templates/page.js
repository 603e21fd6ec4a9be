(function () {
  "use strict";
  // The language that was chosen last, else the browser's own.
  var key = "jobset-lab-language", remembered = null;
  try { remembered = localStorage.getItem(key); } catch (e) { /* a browser may keep nothing */ }
  var language = remembered || (navigator.language || "").slice(0, 2);
  var radios = document.querySelectorAll('input[name="language"]');
  radios.forEach(function (radio) {
    var own = radio.id.slice(-2);
    if (own === language) radio.checked = true;
    radio.addEventListener("change", function () {
      try { localStorage.setItem(key, own); } catch (e) { /* the same */ }
      document.documentElement.lang = own;
    });
  });
  document.documentElement.lang = document.getElementById("lang-ko").checked ? "ko" : "en";
  // One stop of the Tab key for a chart; the arrow keys go from bar to bar.
  document.querySelectorAll("svg.lanes").forEach(function (chart) {
    var bars = Array.prototype.slice.call(chart.querySelectorAll("g.bar"));
    bars.forEach(function (bar, i) { bar.setAttribute("tabindex", i ? "-1" : "0"); });
    chart.addEventListener("keydown", function (event) {
      var at = bars.indexOf(document.activeElement);
      var to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: bars.length - 1 }[event.key];
      if (at < 0 || to === undefined || !bars[to]) return;
      event.preventDefault();
      bars[at].setAttribute("tabindex", "-1");
      bars[to].setAttribute("tabindex", "0");
      bars[to].focus();
    });
  });
  // A link to a step opens it.
  function open() {
    var step = location.hash && document.getElementById(location.hash.slice(1));
    if (step && step.tagName === "DETAILS") step.open = true;
  }
  addEventListener("hashchange", open);
  open();
})();
