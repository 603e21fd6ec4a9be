// Looks at the pages below FOLDER/pages in Chromium, and leaves pictures in FOLDER.
import { readdirSync, readFileSync, existsSync } from "node:fs";
import { createRequire } from "node:module";
import puppeteer from "puppeteer-core";

const out = process.argv[2];
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await puppeteer.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
let looked = 0;
const wrong = [];

// open opens a page and notes all that it asks for, says and runs.
async function open(path, { width = 1440, scheme = "light", script = true } = {}) {
  const page = await browser.newPage();
  page.problems = [];
  page.on("request", (r) => { if (!r.url().startsWith("file://" + path) && r.url() !== "data:,") page.problems.push("asks for " + r.url()); });
  page.on("console", (m) => { if (["error", "warning", "warn"].includes(m.type())) page.problems.push("console: " + m.text()); });
  page.on("pageerror", (e) => page.problems.push("error: " + e.message));
  page.on("dialog", async (d) => { page.problems.push("a dialog"); await d.dismiss(); });
  await page.setJavaScriptEnabled(script);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.setViewport({ width, height: 900 });
  await page.goto("file://" + path);
  return page;
}

async function judge(page, what, extra = []) {
  looked++;
  for (const problem of [...page.problems, ...extra]) {
    wrong.push(what + ": " + problem);
    console.error("✗ " + wrong.at(-1));
  }
}

const kinds = readdirSync(out + "/pages").flatMap((kind) =>
  ["report.html", "compare.html"].map((name) => ({ kind: name === "report.html" ? kind : "compare", path: `${out}/pages/${kind}/${name}` })).filter(({ path }) => existsSync(path)));

for (const { kind, path } of kinds) {
  for (const width of [360, 768, 1440]) for (const scheme of ["light", "dark"]) for (const language of ["en", "ko"]) {
    const what = `${kind}-${width}-${scheme}-${language}`;
    const page = await open(path, { width, scheme });
    await page.click(`label[for="lang-${language}"]`);
    const extra = [];
    const { wide, attacked, other } = await page.evaluate((language) => ({
      wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      attacked: window.attacked,
      other: [...document.querySelectorAll(language === "ko" ? ".en" : ".ko")].filter((e) => e.getClientRects().length).length,
    }), language);
    if (wide > 0) extra.push(`it is ${wide} px wider than the window`);
    if (attacked) extra.push("what a learner wrote was run");
    if (other) extra.push(`${other} texts are in the other language`);
    if (width === 1440 || (width === 360 && language === "ko")) {
      await page.evaluate(axe);
      await page.evaluate(() => document.querySelectorAll("details").forEach((d) => { if (!d.classList.contains("chart-fold") || innerWidth > 400) d.open = true; }));
      const found = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }).then((r) =>
        r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map((v) => `axe ${v.id} (${v.impact}): ${v.nodes.length} × ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].any.map((a) => a.message).join("; ").slice(0, 200)}`)));
      extra.push(...found);
      // Chromium hands what is remembered from process to process, a moment later.
      let kept;
      for (let tries = 0; tries < 5 && kept !== "lang-" + language; tries++) {
        await page.reload();
        kept = await page.evaluate(() => document.querySelector('input[name="language"]:checked').id);
      }
      if (kept !== "lang-" + language) extra.push("the language is not remembered: " + kept);
    }
    await judge(page, what, extra);
    if (kind !== "hostile" || scheme === "light") await page.screenshot({ path: `${out}/${what}.png`, fullPage: true });
    await page.close();
  }
  // Without a script all is there, and the language can be chosen.
  const plain = await open(path, { script: false });
  await plain.click('label[for="lang-ko"]');
  const heading = await (await plain.$("h1 .ko"))?.boundingBox();
  await judge(plain, kind + " without a script", heading || !(await plain.$("h1 .ko")) ? [] : ["the heading is not in Korean"]);
  await plain.close();
}

// The keyboard: a bar has the focus, tells what it is, and an arrow goes to the next.
{
  const page = await open(`${out}/pages/partial/report.html`);
  const extra = [];
  await page.evaluate(() => document.querySelector("svg.lanes g.bar").focus());
  const told = await page.evaluate(() => getComputedStyle(document.activeElement.querySelector(".tip")).display);
  if (told === "none") extra.push("a bar that has the focus tells nothing");
  const first = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await page.keyboard.press("ArrowRight");
  const second = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  if (!second || first === second) extra.push("an arrow key leads nowhere");
  const bar = await page.$("svg.lanes g.lane g.bar:last-child");
  await bar.hover();
  await page.screenshot({ path: `${out}/hover.png`, clip: { x: 0, y: 0, width: 1440, height: 900 } });
  await judge(page, "keyboard", extra);
  await page.pdf({ path: `${out}/print.pdf`, format: "A4" });
  await page.close();
  // The README's picture: the verdict and the timeline.
  const small = await open(`${out}/pages/partial/report.html`, { width: 1280 });
  await small.click('label[for="lang-en"]');
  const chart = await (await small.$(".chart")).boundingBox();
  await small.screenshot({ path: `${out}/readme.png`, clip: { x: 0, y: 0, width: 1280, height: Math.ceil(chart.y + chart.height + 16) } });
  await small.close();
}

await browser.close();
console.log(`${looked - new Set(wrong.map((w) => w.split(": ")[0])).size} passed, ${new Set(wrong.map((w) => w.split(": ")[0])).size} failed`);
console.log("the pictures: " + out);
process.exit(wrong.length ? 1 : 0);
