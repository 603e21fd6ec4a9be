package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Result is how one fault came out.
type Result struct {
	Fault string `json:"fault"`
	Title string `json:"title"`
	// CaughtBy reported the fault with this Code and Cause, Seconds after the suite was
	// started on the broken lab; of a fault that is made while the suite runs, after
	// it was made.
	CaughtBy string        `json:"caughtBy"`
	Code     snapshot.Code `json:"code,omitempty"`
	Cause    snapshot.Code `json:"cause,omitempty"`
	Seconds  float64       `json:"seconds"`
	// Message is all that was reported; of the environment check, its first wrong finding.
	Message string `json:"message"`
	// RestoredIn is how many seconds it took until the lab was proven to be restored.
	RestoredIn float64 `json:"restoredInSeconds"`
	// Wrong is why this fault fails the run; empty if it was caught as it must be
	// and restored.
	Wrong string `json:"wrong,omitempty"`
}

// table is the results, one a line.
func table(results []Result) string {
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(writer, "\tfault\tcaught by\tcode (cause)\tseconds\tfirst line of the message")
	for _, r := range results {
		mark, says := "✓", firstLine(r.Message)
		if r.Wrong != "" {
			mark, says = "✗", firstLine(r.Wrong)
		}
		_, _ = fmt.Fprintf(writer, "%s\t%s\t%s\t%s\t%.1f\t%s\n", mark, r.Fault, r.CaughtBy, r.codes(), r.Seconds, shorten(says))
	}
	_ = writer.Flush()
	return text.String()
}

// codes are the code of what was reported, and the cause in parentheses.
func (r Result) codes() string {
	if r.Cause == "" {
		return string(r.Code)
	}
	return fmt.Sprintf("%s (%s)", r.Code, r.Cause)
}

// widestMessage keeps a line of the table on a wide screen, in characters.
const widestMessage = 150

func shorten(text string) string {
	if runes := []rune(text); len(runes) > widestMessage {
		return string(runes[:widestMessage]) + "…"
	}
	return text
}

// save writes the results for a program to read.
func save(path string, results []Result) error {
	content, err := json.MarshalIndent(results, "", "  ")
	if err == nil {
		err = os.WriteFile(path, append(content, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("saving the table of the faults: %w", err)
	}
	return nil
}
