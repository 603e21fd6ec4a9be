package page

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// functions are the words that the templates have beyond Go's own. Whatever was written
// by others goes through show.
func (v view) functions() template.FuncMap {
	return template.FuncMap{
		"t":       both,
		"words":   func(words snapshot.Text) template.HTML { return both(shown(words.KO), shown(words.EN)) },
		"show":    v.room.take,
		"line":    func(value string) string { return text.Shown(text.Redact(value), text.LongestCell) },
		"lines":   v.lines,
		"seconds": func(seconds float64) string { return fmt.Sprintf("%.1f s", seconds) },
		"when":    when,
		"state": func(state string) template.HTML {
			return both(cmp.Or(wordsOf[state], report.StatesInKorean[state]), state)
		},
		"count": func(claims []report.ClaimResult) template.HTML {
			count := report.CountClaims(claims)
			return both(count.KO, count.EN)
		},
		"why":   func(why string) template.HTML { return both(whyNot[why], shown(text.Shorten(why))) },
		"mark":  func(state string) string { return cmp.Or(signs[state], "·") },
		"class": func(state string) string { return cmp.Or(stateClasses[state], "none") },
		"upper": strings.ToUpper,
		"last":  func(i int, of History) bool { return i == len(of)-1 },
		"findings": func(all []preflight.Finding, notable bool) []preflight.Finding {
			return slices.DeleteFunc(slices.Clone(all), func(f preflight.Finding) bool { return (f.Wrong() || f.Note != "") != notable })
		},
		"refuted": func(claims []report.ClaimResult) bool { return slices.ContainsFunc(claims, report.ClaimResult.Refuted) },
		"firstly": text.FirstLine,
		"down":    func(line int) int { return 17 + 16*line },
	}
}

// both is a text in both languages; the page shows the one that is chosen.
func both(ko, en string) template.HTML {
	escape := func(words string) string { return template.HTMLEscapeString(text.Visible(words)) }
	if strings.TrimSpace(ko) == "" || ko == en {
		return template.HTML(`<span lang="en">` + escape(en) + `</span>`) //nolint:gosec // escaped
	}
	return template.HTML(`<span class="ko" lang="ko">` + escape(ko) + `</span><span class="en" lang="en">` + escape(en) + `</span>`) //nolint:gosec // escaped
}

// wordsOf are the states in Korean, signs what stands for them, and stateClasses how
// they are colored.
var (
	wordsOf = map[string]string{"passed": "통과", "failed": "실패", "partial": "부분 통과", "done": "먼저 수행",
		"interrupted": "중단됨", "aborted": "중단됨", "panicked": "실패", "timedout": "시간 초과", "pending": "보류"}
	signs = map[string]string{"passed": "✓", "failed": "✕", "partial": "◐", "not run": "–", "done": "✓", "skipped": "–", "proven": "✓", "refuted": "✕",
		"interrupted": "■", "aborted": "■", "panicked": "✕", "timedout": "✕", "pending": "–"}
	stateClasses = map[string]string{"passed": "good", "done": "good", "failed": "bad", "panicked": "bad", "timedout": "bad", "partial": "half",
		"proven": "good", "refuted": "bad"}
)

// whyNot is why a step was not run, in Korean.
var whyNot = map[string]string{"not asked for": "요청하지 않음", "the run ended before it": "그 전에 실행이 끝남", "interrupted": "중단됨"}

// A Line is one of a learner's file.
type Line struct {
	Text   string
	Judged bool
}

// lines are those of a file, with what is judged marked.
func (v view) lines(file File) []Line {
	var lines []Line
	for i, line := range strings.Split(v.room.take(strings.TrimRight(file.Text, "\n")), "\n") {
		lines = append(lines, Line{line, slices.Contains(file.Judged, i)})
	}
	return lines
}

// table is a part of the timeline in words, for who cannot see the chart.
func (t Timeline) table(s scale) [][]string {
	var rows [][]string
	type dated struct {
		at  float64
		row []string
	}
	var all []dated
	add := func(at float64, what, state, said string) {
		if at >= s.from && at <= s.to {
			all = append(all, dated{at, []string{fmt.Sprintf("+%.1f s", at), what, state, said}})
		}
	}
	for _, lane := range t.Lanes {
		for _, bar := range lane.Bars {
			add(bar.From, lane.Kind+" "+bar.Object, bar.State, bar.Text)
		}
	}
	for _, mark := range t.Marks {
		add(mark.At, "learner", mark.What, "")
	}
	slices.SortStableFunc(all, func(a, b dated) int { return cmp.Compare(a.at, b.at) })
	for _, one := range all[:min(len(all), 400)] {
		rows = append(rows, one.row)
	}
	return rows
}
