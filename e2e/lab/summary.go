package lab

import (
	"fmt"
	"os"
	"strings"
)

// Summary is what the reports say, as Markdown: the verdict, the closing block,
// the first failure at length and, if there were any, the repeats. Where there is
// nothing it says so: a summary that is silent looks like one that is content.
func (s Settings) Summary() string {
	var text strings.Builder
	verdict, err := s.ReadVerdict()
	repeats, notRepeated := s.ReadRepeats()
	switch {
	case err == nil:
		fmt.Fprintf(&text, "## The JobSet lab: %s\n\n%s\n", strings.ToUpper(verdict.Verdict), shown(strings.TrimSpace(verdict.Reason), longestCell))
	case notRepeated == nil:
		fmt.Fprintf(&text, "## The JobSet lab, walked %d times\n\n%s\n", len(repeats.Runs), fenced(repeats.String()))
	default:
		fmt.Fprintf(&text, "## The JobSet lab: no verdict\n\nNothing has run, or what ran left nothing: %v\n", err)
	}
	if closing, err := os.ReadFile(s.closingPath()); err == nil {
		fmt.Fprintf(&text, "\n%s\n", fenced(string(closing)))
	}
	if verdict.FirstFailure != nil {
		fmt.Fprintf(&text, "\n### The first failure: %s\n\n%s\n", verdict.FirstFailure.By, fenced(verdict.FirstFailure.Message))
	}
	return Visible(text.String())
}

// fenced is a block that Markdown leaves as it is, whatever it holds.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence
}
