package matchers

import (
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// CarryReasonOf judges that a file has the reason for which Kueue refused the
// Workload its quota: the message as a whole, or one whole clause of it (Kueue
// puts one for each podSet, with semicolons between), whatever else is around
// it. A message that the Workload carried earlier counts too, since its numbers
// follow what the rest of the queue does. The bare word of the reason field does
// only where it tells more than that the Workload waits.
func CarryReasonOf(workload snapshot.Workload) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := missingWorkload(workload); r != nil {
			return r
		}
		if r := missingFile(f); r != nil {
			return r
		}
		reasons := workload.Reasons()
		if len(reasons) == 0 {
			return NewMismatch(ReasonNotYetGiven, snapshot.TextOf("JobSet %s 의 Workload 에 아직 사유가 없어서 %s 파일과 견줄 수 없습니다.",
				"Kueue has given no reason for JobSet %s yet to compare %s with.", workload.Of.Name, f.Name))
		}
		text := lettersOf(f.Text)
		for _, reason := range reasons {
			for clause := range strings.SplitSeq(reason, "; ") {
				if clause = lettersOf(clause); clause != "" && strings.Contains(text, clause) {
					return nil
				}
			}
		}
		reserved := workload.Condition("QuotaReserved")
		if reserved != nil && tellsWhy(reserved.Reason) && slices.Contains(strings.FieldsFunc(f.Text, notALetter), reserved.Reason) {
			return nil
		}
		return NewMismatch(ReasonNotInFile, snapshot.TextOf("%s 파일의 내용이 JobSet %s 의 Workload 에 적힌 사유와 다릅니다.",
			"The file %s does not carry the reason that the Workload of JobSet %s gives.", f.Name, workload.Of.Name)).
			Row("reason", reasons[0], f.Quote())
	}
}

func tellsWhy(reason string) bool { return reason != "Pending" && reason != "Waiting" }

func notALetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

// escaped are characters that JSON (\u003e) and HTML (&gt;) write in another way; what a
// form of output writes for a line end inside of a string is one too.
var escaped = regexp.MustCompile(`\\u[0-9a-fA-F]{4}|&#?\w+;|\\[nrt]`)

// lettersOf leaves the letters, all small, digits and round brackets of a text, in their order. Every form of output
// prints those: -o yaml doubles the apostrophes and folds lines, -o json and go-template
// escape characters, describe and terminals wrap lines, and frames stand around them.
func lettersOf(text string) string {
	text = escaped.ReplaceAllStringFunc(text, func(escape string) string {
		if escape[0] == '&' {
			return html.UnescapeString(escape)
		}
		unquoted, _ := strconv.Unquote(`"` + escape + `"`)
		return unquoted
	})
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == '(' || r == ')' {
			return unicode.ToLower(r)
		}
		return -1
	}, width.Fold.String(text))
}
