package page

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/report"
)

// A Chart is a timeline laid out to be drawn: everything has its place in pixels.
type Chart struct {
	ID     string
	Width  float64
	Height float64
	Ticks  []Shape
	Bands  []Shape // where a step or mistake runs, behind the lanes
	Rows   []Row
	// Moments are lines down through all lanes of a JobSet.
	Moments []Shape
}

// A Row is one line of the chart, with the label beside it.
type Row struct {
	Kind   string // its class: axis, span, command, jobset, lane, quota, device
	Label  string
	Title  string
	Y, H   float64
	Shapes []Shape
	// Path is the outline of the quota in use, Limit the height of the whole quota.
	Path  string
	Limit float64
}

// A Shape is one thing that is drawn, with what it tells when it is pointed at.
type Shape struct {
	Class      string
	X, Y, W, H float64
	// Sign is a word or sign in it, as far as there is room.
	Sign, SignKO string
	Tip          *Tip
}

// A Tip is what a shape tells. It opens above the shape, for what is drawn before it
// lies below.
type Tip struct {
	X, Y, W, H float64
	Lines      []string
}

// Name is the tip for who does not see it.
func (t *Tip) Name() string { return strings.Join(t.Lines, "; ") }

// The heights of the rows, which style/timeline.css has too, and the width of the lanes.
const (
	axisHeight    = 42
	spanHeight    = 26
	commandHeight = 22
	laneHeight    = 20
	quotaHeight   = 46
	deviceHeight  = 16
	chartWidth    = 1000
)

// A scale turns times into places.
type scale struct{ from, to float64 }

func (s scale) x(at float64) float64 {
	return round((min(max(at, s.from), s.to) - s.from) / (s.to - s.from) * chartWidth)
}

// covers says that a bar is to be seen, and does not only reach into the scale.
func (s scale) covers(bar Bar) bool { return bar.To > s.from+(s.to-s.from)/100 && bar.From < s.to }

func round(x float64) float64 { return math.Round(x*10) / 10 }

// layout draws the part of a timeline that the scale covers, with the spans that are
// chosen. id tells the charts of one page apart.
func (t Timeline) layout(id string, s scale, chosen func(Span) bool) *Chart {
	c := &Chart{ID: id, Width: chartWidth}
	c.axis(s)
	spans := c.row(Row{Kind: "span", H: spanHeight})
	for _, span := range t.Spans {
		if chosen(span) {
			c.span(spans, span, s)
		}
	}
	commands := c.row(Row{Kind: "command", H: commandHeight})
	for _, mark := range t.Marks {
		if mark.At >= s.from && mark.At <= s.to {
			c.command(commands, mark, s)
		}
	}
	for at := 0; at < len(t.Lanes); {
		end := at
		for end < len(t.Lanes) && t.Lanes[end].group() == t.Lanes[at].group() {
			end++
		}
		c.jobSet(t.Lanes[at:end], s)
		at = end
	}
	t.gpus(c, s)
	for i := range c.Bands {
		c.Bands[i].H = c.Height - axisHeight
	}
	return c
}

// row adds a row at the bottom and returns its number.
func (c *Chart) row(r Row) int {
	r.Y = c.Height
	c.Height += r.H
	c.Rows = append(c.Rows, r)
	return len(c.Rows) - 1
}

// axis puts a tick at each round number of seconds.
func (c *Chart) axis(s scale) {
	c.row(Row{Kind: "axis", H: axisHeight})
	step := 1.0
	for _, candidate := range []float64{1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 3600} {
		if step = candidate; (s.to-s.from)/candidate <= 14 {
			break
		}
	}
	for at := math.Ceil(s.from/step) * step; at <= s.to; at += step {
		if s.x(at) < 14 { // its words would be cut off
			continue
		}
		c.Ticks = append(c.Ticks, Shape{X: s.x(at), Sign: strconv.FormatFloat(at, 'f', -1, 64) + " s"})
	}
}

// The widths of letters in the chart, for a step's name, a sign in a bar, and a tip.
const (
	signWidth = 6.6
	tipWidth  = 6.9
)

func (c *Chart) span(row int, span Span, s scale) {
	x, w := s.x(span.From), max(3, s.x(span.To)-s.x(span.From)-1)
	class, sign := "passed", "✓ "
	switch span.State {
	case "passed":
	case "interrupted", "aborted":
		class, sign = "ended", "■ "
	default:
		class, sign = "failed", "✕ "
	}
	name := strings.TrimPrefix(strings.TrimPrefix(span.Label, report.StepLabel), report.MistakeLabel)
	what := "mistake " + name
	if span.step() {
		what = "step " + name
	}
	shape := Shape{Class: "span " + class, X: x, Y: 3, W: w, H: spanHeight - 6}
	for _, candidate := range []string{sign + what, sign + name, strings.TrimSpace(sign)} {
		if float64(len([]rune(candidate)))*signWidth+6 < w {
			shape.Sign = candidate
			break
		}
	}
	shape.Tip = c.tip(row, x, w, fmt.Sprintf("%s: %s", what, span.State), period(span.From, span.To))
	c.Rows[row].Shapes = append(c.Rows[row].Shapes, shape)
	c.Bands = append(c.Bands, Shape{Class: class, X: x, Y: axisHeight, W: w})
}

// command draws what the learner did, by what kind of a thing it was.
func (c *Chart) command(row int, mark Mark, s scale) {
	class := "look"
	for _, kind := range []struct{ begins, class string }{{"kubectl apply", "apply"}, {"kubectl exec", "exec"}, {"save ", "write"}, {"write ", "write"}} {
		if strings.HasPrefix(mark.What, kind.begins) {
			class = kind.class
		}
	}
	x := s.x(mark.At)
	c.Rows[row].Shapes = append(c.Rows[row].Shapes, Shape{Class: class, X: x, Y: 5, W: 9, H: 12, Tip: c.tip(row, x, 0, mark.What, fmt.Sprintf("+%.1f s", mark.At))})
}

// tip lays out what a shape of a row tells.
func (c *Chart) tip(row int, x, w float64, lines ...string) *Tip {
	t := &Tip{}
	for _, line := range lines {
		t.Lines = append(t.Lines, wrapped(line, 84, 3)...)
	}
	for _, line := range t.Lines {
		t.W = max(t.W, float64(width(line))*tipWidth+18)
	}
	t.H = float64(len(t.Lines))*16 + 10
	t.X = round(min(max(0, x+w/2-t.W/2), chartWidth-t.W))
	t.Y = max(0, c.Rows[row].Y-t.H-1)
	return t
}

func period(from, to float64) string {
	return fmt.Sprintf("+%.1f s to +%.1f s, %.1f s", from, to, to-from)
}
