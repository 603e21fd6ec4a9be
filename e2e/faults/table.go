package faults

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
)

// A Result is how one fault came out.
type Result struct {
	Fault string `json:"fault"`
	Title string `json:"title"`
	// CaughtBy told the fault, Seconds after the suite was started on the broken
	// lab; of a fault that is made while the suite runs, after it was made.
	CaughtBy string  `json:"caughtBy"`
	Seconds  float64 `json:"seconds"`
	// Message is all that was told; of the preflight, its first wrong finding.
	Message string `json:"message"`
	// HealedIn is how many seconds it took until the lab was proven to be mended.
	HealedIn float64 `json:"healedInSeconds"`
	// Wrong is why this fault fails the run; empty if it was caught as it must be
	// and mended.
	Wrong string `json:"wrong,omitempty"`
}

// table is the results, one a line.
func table(results []Result) string {
	var text strings.Builder
	writer := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(writer, "\tfault\tcaught by\tseconds\tfirst line of the message")
	for _, r := range results {
		mark, says := "✓", firstLine(r.Message)
		if r.Wrong != "" {
			mark, says = "✗", firstLine(r.Wrong)
		}
		_, _ = fmt.Fprintf(writer, "%s\t%s\t%s\t%.1f\t%s\n", mark, r.Fault, r.CaughtBy, r.Seconds, shorten(says))
	}
	_ = writer.Flush()
	return text.String()
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
