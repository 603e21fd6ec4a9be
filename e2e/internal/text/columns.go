package text

import (
	"strings"

	"golang.org/x/text/width"
)

// Columns lays out cells so that every column starts at the same place on a
// terminal, where a Korean syllable is two places wide. Rows may differ in
// length; the last cell of a row is not padded and makes no column wider.
func Columns(rows [][]string) string {
	rows = shownRows(rows)
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if i < len(row)-1 {
				widths[i] = max(widths[i], DisplayWidth(cell))
			}
		}
	}
	var lines []string
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", widths[i]-DisplayWidth(cell)+2))
			}
		}
		lines = append(lines, strings.TrimRight(line.String(), " "))
	}
	return strings.Join(lines, "\n")
}

// shownRows makes every cell one line that a terminal shows as it is.
func shownRows(rows [][]string) [][]string {
	safe := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			safe[i] = append(safe[i], Shown(cell, LongestCell))
		}
	}
	return safe
}

// DisplayWidth counts the places that text takes on a terminal.
func DisplayWidth(text string) int {
	places := 0
	for _, r := range text {
		switch width.LookupRune(r).Kind() {
		case width.EastAsianWide, width.EastAsianFullwidth:
			places += 2
		default:
			places++
		}
	}
	return places
}

// Indent puts margin before every line that is not empty.
func Indent(text, margin string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}
	return strings.Join(lines, "\n")
}
