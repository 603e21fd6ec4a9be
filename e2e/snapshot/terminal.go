package snapshot

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a terminal adds to a text that is copied from it, or redirected into a file: colours,
// prompts with the commands behind them, and line ends where its window ends.

var (
	// escapes are colours, cursor moves and window titles (ECMA-48), and a letter that was
	// struck over, as man prints bold.
	escapes = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[ -/]*[0-~]|.\x08`)
	lineEnd = regexp.MustCompile(`\r*\n|\r+`)
	// promptAndCommand is a line that a shell, a REPL or set -x begins: / # nslookup …,
	// root@vm:~$ …, [root@vm ~]# …, >>> …; and any comment. An arrow (=>, ->) is no prompt.
	promptAndCommand = regexp.MustCompile(`^(\([^)]+\) ?)?(\[[^\]]*\]|[^\s\["'{=]*[^\s\["'{=-])?( [~/]\S*)? ?([#$%❯➜]|>+)( +\S|$)|^#[^<]|^\++ \S|^PS [A-Z]:\\`)
	// commandAlone is a command that stands without its prompt.
	commandAlone = regexp.MustCompile(`^(sudo )?(kubectl|k3s|nslookup|dig|drill|getent|ping|resolvectl|echo|cat|curl|wget|nc|python3?|sh|bash) [^:]`)
)

// Plain takes away what differs between editors and terminals and says nothing: a byte
// order mark, colours, carriage returns, blanks that look like one and those at the end of
// a line.
func Plain(text string) string {
	text = lineEnd.ReplaceAllString(escapes.ReplaceAllString(text, ""), "\n")
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsSpace(r) || unicode.Is(unicode.Zs, r):
			return ' '
		case unicode.IsControl(r) || r == '\ufeff' || r == '\u200b':
			return -1
		}
		return r
	}, text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.Join(lines, "\n")
}

// isCommand tells a line that was typed, after a prompt, from one that was printed.
func isCommand(line string) bool {
	line = strings.TrimSpace(line)
	return promptAndCommand.MatchString(line) || commandAlone.MatchString(line)
}

// narrowest is the width, in columns, below which no terminal is.
const narrowest = 20

// Unwrapped is the file with the lines joined again that a terminal broke at its last
// column: those that are as long as the longest one. A file that no terminal wrapped is
// made worse by it, so it is only a second way to read one.
func (f File) Unwrapped() File {
	lines := strings.Split(f.Text, "\n")
	width := 0
	for _, line := range lines {
		width = max(width, utf8.RuneCountInString(line))
	}
	if width < narrowest {
		return f
	}
	var text strings.Builder
	for i, line := range lines {
		text.WriteString(line)
		if i < len(lines)-1 && utf8.RuneCountInString(line) < width {
			text.WriteByte('\n')
		}
	}
	f.Text = text.String()
	return f
}
