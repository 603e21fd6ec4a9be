package page

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// longestLine bounds a line on the page, in runes: a learner's file may have any.
const longestLine = 500

// clip keeps the beginning of a text, and says how much is left out.
func clip(whole string, most int) string {
	if len(whole) <= most {
		return whole
	}
	at := most
	for at > 0 && !utf8.RuneStart(whole[at]) {
		at--
	}
	return fmt.Sprintf("%s\n… %d more bytes are left out", whole[:at], len(whole)-at)
}

// clipFront keeps the end of a text: of a log it is the newest.
func clipFront(whole string, most int) string {
	if len(whole) <= most {
		return whole
	}
	at := len(whole) - most
	for at < len(whole) && !utf8.RuneStart(whole[at]) {
		at++
	}
	return fmt.Sprintf("… %d bytes before are left out\n%s", at, whole[at:])
}

// shown makes any text one that a page can show: no secret, nothing that does not
// print, no line that is too long.
func shown(whole string) string {
	lines := strings.Split(text.Visible(text.Redact(whole)), "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) > longestLine {
			runes := []rune(line)
			lines[i] = fmt.Sprintf("%s… (%d characters more)", string(runes[:longestLine]), len(runes)-longestLine)
		}
	}
	return strings.Join(lines, "\n")
}

// mostBytes is how much the texts on a page may take together, as HTML. With what
// stands around them the page stays under a megabyte.
const mostBytes = 560 << 10

// longestText bounds one text on a page.
const longestText = 64 << 10

// A room is what is left of mostBytes.
type room int

// take returns the text if there is room for it, else as much as fits.
func (r *room) take(whole string) string {
	// No more of it is looked at than a page can hold many of.
	whole = shown(clip(whole, longestText))
	if size := len(html.EscapeString(whole)); size > int(*r) {
		// Escaped it takes at most five times its own length.
		whole = clip(whole, max(0, int(*r)/5))
	}
	*r -= room(len(html.EscapeString(whole)))
	return whole
}
