package snapshot

import (
	"fmt"
	"strings"
)

// A File is one file of the work directory, whether it was written or not.
type File struct {
	Name    string
	Text    string
	Written bool
	// unread is why what lies in its place cannot be judged; nil where it can.
	Unread *Text
}

// Plain takes away what differs between editors and says nothing: a byte order
// mark, carriage returns, blanks at the end of a line.
func Plain(text string) string {
	text = strings.TrimPrefix(text, "\ufeff")
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\r")
	}
	return strings.Join(lines, "\n")
}

// Quote is the start of the file's text on one line, for a message.
func (f File) Quote() string {
	text := strings.Join(strings.Fields(f.Text), " ")
	if runes := []rune(text); len(runes) > 70 {
		text = string(runes[:70]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// A pair is one line key=value of a file.
type pair struct {
	Key, Value string
}

// Pairs reads the lines of the form key=value. Blanks around either side are
// let pass; lines of another form are returned apart.
func (f File) Pairs() (pairs []pair, others []string) {
	for line := range strings.Lines(f.Text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			others = append(others, line)
			continue
		}
		pairs = append(pairs, pair{strings.TrimSpace(key), strings.TrimSpace(value)})
	}
	return pairs, others
}
