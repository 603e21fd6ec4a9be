package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a learner's files, the cluster's objects and paths hold may be anything. A
// terminal obeys escape sequences, carriage returns and marks that turn the order of
// letters round, so text leaves this suite only as what it shows: through Visible as
// a whole, and value by value through shown, where a line's end or a great length
// would take the place of the words around it.

// longestValue and longestCell bound a value in a sentence and a cell of a table, in runes.
const (
	LongestValue = 200
	LongestCell  = 600
)

// Visible returns text of several lines with all that does not print written out, as
// Go writes it in a string: \x1b, \r, \u202e.
func Visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var safe strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == utf8.RuneError && size == 1:
			safe.WriteString(`\x` + strconv.FormatUint(uint64(text[0])|0x100, 16)[1:])
		case hidden(r):
			quoted := strconv.QuoteRune(r)
			safe.WriteString(quoted[1 : len(quoted)-1])
		default:
			safe.WriteRune(r)
		}
		text = text[size:]
	}
	return safe.String()
}

// hidden tells what a terminal obeys or does not show. Blanks other than the
// ordinary one look like it.
func hidden(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsPrint(r) }

// Shown is a value on one line, shortened.
func Shown(value string, longest int) string {
	// No more of it is looked at than can be kept.
	if len(value) > longest*utf8.UTFMax {
		at := longest * utf8.UTFMax
		for at > 0 && !utf8.RuneStart(value[at]) {
			at--
		}
		value = value[:at] + "…"
	}
	value = Visible(value)
	if strings.ContainsAny(value, "\n\t") {
		value = strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(value)
	}
	if runes := []rune(value); len(runes) > longest {
		value = string(runes[:longest]) + "…"
	}
	return value
}

// ShownAll is shown for those values of a sentence that are text.
func ShownAll(values []any) []any {
	safe := make([]any, len(values))
	for i, value := range values {
		switch text := value.(type) {
		case string:
			safe[i] = Shown(text, LongestValue)
		case error:
			safe[i] = Shown(text.Error(), LongestValue)
		default:
			safe[i] = value
		}
	}
	return safe
}
