// Package text lays out tables for a terminal, counts things in sentences, and shows
// what does not print.
package text

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"time"
)

// ReasonAndMessage puts a condition's reason and message on one line.
func ReasonAndMessage(reason, message string) string {
	if message == "" {
		return reason
	}
	return reason + ": " + message
}

func Shorten(text string) string {
	if runes := []rune(text); len(runes) > 160 {
		return string(runes[:160]) + "…"
	}
	return text
}

func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func Times(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func List(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func OrNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

func Quoted(names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, fmt.Sprintf("%q", name))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

func Seconds(d time.Duration) float64 { return math.Round(d.Seconds()*1000) / 1000 }

// FirstLine is the first line of a longer message.
func FirstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return line
}

func Or(value, otherwise string) string {
	if strings.TrimSpace(value) == "" {
		return otherwise
	}
	return value
}
