package report

import (
	"fmt"
	"os"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// Markdown is what the reports say: the verdict, the closing block, and the first
// failure at length. Where there is no report it says so.
func Markdown(s settings.Settings) string {
	var out strings.Builder
	verdict, err := ReadVerdict(s)
	if err == nil {
		fmt.Fprintf(&out, "## The JobSet lab: %s\n\n%s\n", strings.ToUpper(verdict.Verdict), text.Shown(strings.TrimSpace(verdict.Reason), text.LongestCell))
	} else {
		fmt.Fprintf(&out, "## The JobSet lab: no verdict\n\nNothing has run, or what ran left nothing: %v\n", err)
	}
	if closing, err := os.ReadFile(closingPath(s)); err == nil {
		fmt.Fprintf(&out, "\n%s\n", fenced(string(closing)))
	}
	if verdict.FirstFailure != nil {
		fmt.Fprintf(&out, "\n### The first failure: %s\n\n%s\n", verdict.FirstFailure.By, fenced(verdict.FirstFailure.Message))
	}
	return text.Visible(out.String())
}

// fenced is a block that Markdown leaves as it is, whatever it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
