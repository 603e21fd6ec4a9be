package snapshot

import (
	"fmt"
	"regexp"
	"strings"

	"golang.org/x/text/width"
)

// A File is one file of the work directory, whether it was written or not.
type File struct {
	Name    string
	Text    string
	Written bool
	// unread is why what lies in its place cannot be judged; nil where it can.
	Unread *Text
}

// Quote is the start of the file's text on one line, for a message.
func (f File) Quote() string {
	text := strings.Join(strings.Fields(f.Text), " ")
	if runes := []rune(text); len(runes) > 70 {
		text = string(runes[:70]) + "…"
	}
	return fmt.Sprintf("%q", text)
}

// A pair is key=value in a file.
type pair struct {
	Key, Value string
}

var (
	// keyAndValue is one pair; the value may be in quotes, as the downward API writes the
	// labels of a pod and a shell its variables, and the key or the whole pair too. Further
	// numbers directly behind it (1 or 2; 1,2) belong to the value: it is not one of them.
	keyAndValue = regexp.MustCompile(`"([\w./-]+)\s*=\s*([^"]*)"|'([\w./-]+)\s*=\s*([^']*)'|["']?([\w./-]+)["']?\s*=\s*("[^"]*"|'[^']*'|[^\s,;]*(?:(?:\s*[,/~|]\s*|\s+(?:(?:or|또는|혹은|아니면)\s+)?)\d+(?:[\s,;.)]|$))*)`)
	// aroundPairs is what may stand on a line beside pairs: what divides them, the bullet or
	// number of a list, the shell's export, the heading that kubectl describe puts before labels.
	aroundPairs = regexp.MustCompile(`^(export|Labels:|[-*•]|\d+[.)])?[\s,;]*$`)
	comment     = regexp.MustCompile(`\s#.*$`)
)

// Pairs reads what has the form key=value, with blanks around either side, several on a
// line, and quotes around it. Lines on which something else stands are returned apart.
// What was typed at a prompt and comments are neither. Neither a number nor the value of a
// label ends with the punctuation that a sentence, or zsh, puts behind it.
func (f File) Pairs() (pairs []pair, others []string) {
	for line := range strings.Lines(f.Text) {
		line = strings.TrimSpace(width.Fold.String(line))
		if line == "" || isCommand(line) {
			continue
		}
		line = comment.ReplaceAllString(line, "")
		for _, found := range keyAndValue.FindAllStringSubmatch(line, -1) {
			key, value := found[1]+found[3]+found[5], found[2]+found[4]+found[6]
			if quoted := len(value) > 1 && strings.ContainsRune(`"'`, rune(value[0])); quoted {
				value = strings.TrimSuffix(value[1:], value[:1])
			} else if bare := found[5] != ""; bare {
				value = strings.TrimRight(strings.TrimSpace(value), ".)`*%")
			}
			pairs = append(pairs, pair{key, strings.TrimSpace(value)})
		}
		if rest := keyAndValue.ReplaceAllString(line, ""); !aroundPairs.MatchString(strings.TrimSpace(rest)) {
			others = append(others, line)
		}
	}
	return pairs, others
}
