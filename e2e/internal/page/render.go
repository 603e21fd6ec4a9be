package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"strings"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

//go:embed templates style
var sources embed.FS

// A view is what the templates are given.
type view struct {
	Page
	// Policy lets a browser use the style and the script below, and load nothing.
	Policy string
	Style  template.CSS
	Script template.JS

	Charts  []titledChart
	Compare *Comparison
	room    *room
}

// A titledChart is a Chart with its heading in both languages; a Folded one is opened
// by who wants to see it.
type titledChart struct {
	*Chart
	Title  snapshot.Text
	Folded bool
	Table  [][]string
}

// HTML is the page: one file, which loads nothing and can be read without a script.
func (p Page) HTML() ([]byte, error) {
	return view{Page: p, Charts: p.charts()}.render()
}

func (v view) render() ([]byte, error) {
	left := room(mostBytes)
	v.room = &left
	style, err := joined("style/base.css", "style/report.css", "style/timeline.css", "style/bars.css", "style/print.css")
	if err != nil {
		return nil, err
	}
	script, err := joined("templates/page.js")
	if err != nil {
		return nil, err
	}
	v.Style, v.Script = template.CSS(style), template.JS(script) //nolint:gosec // both are this package's own files
	v.Policy = fmt.Sprintf("default-src 'none'; img-src data:; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'", hash(style), hash(script))
	templates, err := template.New("").Funcs(v.functions()).ParseFS(sources, "templates/*.html")
	if err != nil {
		return nil, fmt.Errorf("reading the page's templates: %w", err)
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, "page.html", v); err != nil {
		return nil, fmt.Errorf("filling the page's templates: %w", err)
	}
	return out.Bytes(), nil
}

// charts are the steps' timeline and, folded, that of the mistakes before them.
func (p Page) charts() []titledChart {
	t := p.Timeline
	if len(t.Lanes) == 0 && len(t.Spans) == 0 || t.End <= 0 {
		return nil
	}
	begin := t.End
	mistakes := false
	for _, span := range t.Spans {
		if span.step() {
			begin = min(begin, span.From)
		} else {
			mistakes = true
		}
	}
	steps := Span.step
	var charts []titledChart
	if begin < t.End || !mistakes {
		if !mistakes {
			begin = 0
		}
		s := scale{max(0, begin-0.3), t.End}
		charts = append(charts, titledChart{t.layout("steps", s, steps), snapshot.Text{KO: "단계", EN: "The steps"}, false, t.table(s)})
	}
	if mistakes {
		s := scale{0, begin}
		charts = append(charts, titledChart{t.layout("mistakes", s, func(s Span) bool { return !s.step() }),
			snapshot.Text{KO: "실수 (단계 이전)", EN: "The mistakes, before the steps"}, begin < t.End, t.table(s)})
	}
	return charts
}

func joined(names ...string) (string, error) {
	var out strings.Builder
	for _, name := range names {
		content, err := sources.ReadFile(name)
		if err != nil {
			return "", fmt.Errorf("reading a part of the page: %w", err)
		}
		out.Write(content)
	}
	return out.String(), nil
}

// hash is what a content security policy knows a style or a script by.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
