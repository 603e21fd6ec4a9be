package page

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// jobSet draws all lanes of a JobSet, and what happened to it as a whole.
func (c *Chart) jobSet(lanes []Lane, s scale) {
	lanes = slices.DeleteFunc(slices.Clone(lanes), func(l Lane) bool {
		return !slices.ContainsFunc(l.Bars, func(b Bar) bool { return s.covers(b) })
	})
	if len(lanes) == 0 {
		return
	}
	top := c.Height
	attempts := map[string]bool{}
	for _, lane := range lanes {
		for _, bar := range lane.Bars {
			attempts[bar.Attempt] = true
		}
	}
	pods := 0
	for i, lane := range lanes {
		row := c.row(Row{Kind: "lane", H: laneHeight, Label: laneLabel(lane), Title: lane.Kind + " " + lane.Name})
		if i == 0 {
			c.Rows[row].Kind = "lane jobset"
		}
		if lane.Kind == "Pod" {
			pods++
		}
		delete(attempts, "")
		for _, bar := range lane.Bars {
			c.bar(row, lane, bar, s, len(attempts) > 1)
		}
	}
	if lanes[0].Kind == "JobSet" && pods == 0 {
		c.silence(lanes[0], s)
	}
	c.moments(lanes, top, pods, s)
}

// laneLabel is a lane's name without what its JobSet's lane says already.
func laneLabel(lane Lane) string {
	name := strings.TrimPrefix(lane.Name, lane.JobSet+"-")
	switch lane.Kind {
	case "JobSet":
		return lane.Name
	case "Workload":
		return "Workload"
	case "Pod":
		return "pod " + name
	}
	return lane.Kind + " " + name
}

func (c *Chart) bar(row int, lane Lane, bar Bar, s scale, attempts bool) {
	if !s.covers(bar) {
		return
	}
	x, w := s.x(bar.From), max(1.5, s.x(bar.To)-s.x(bar.From))
	shape := Shape{Class: bar.Class + " " + strings.ToLower(lane.Kind), X: x, Y: 3, W: round(w), H: laneHeight - 6}
	if bar.Class == terminating || lane.Kind == "Pod" && bar.Class == completed {
		// What is on its way out leaves room for what comes after it.
		shape.Y, shape.H = laneHeight/2-1, laneHeight/2-2
	}
	// What goes as it mostly does needs no word.
	words := []string{bar.State}
	if bar.Class == active || bar.Class == pending {
		words = nil
	}
	if attempts && bar.Attempt != "" && bar.Class == active && lane.Kind != "JobSet" {
		words = []string{"attempt " + bar.Attempt, bar.Attempt}
	}
	if signs := map[string]string{completed: "✓", broken: "✕", troubled: "!"}; signs[bar.Class] != "" {
		words = []string{signs[bar.Class] + " " + bar.State, signs[bar.Class]}
	}
	for _, word := range words {
		if float64(utf8.RuneCountInString(word))*signWidth+6 < w && shape.H > 10 {
			shape.Sign = word
			break
		}
	}
	about := lane.Kind + " " + bar.Object
	if bar.Attempt != "" {
		about += ", attempt " + bar.Attempt
	}
	if bar.Devices != "" {
		about += ", " + bar.Devices
	}
	lines := []string{about, bar.State + ", " + period(bar.From, bar.To)}
	if bar.Text != "" {
		lines = append(lines, bar.Text)
	}
	shape.Tip = c.tip(row, x, w, lines...)
	c.Rows[row].Shapes = append(c.Rows[row].Shapes, shape)
}

// silence shows that a JobSet never had a pod: what is not there is seen too.
func (c *Chart) silence(lane Lane, s scale) {
	from, to := lane.Bars[0].From, lane.Bars[len(lane.Bars)-1].To
	row := c.row(Row{Kind: "lane", H: laneHeight, Label: "pods"})
	x, w := s.x(from), s.x(to)-s.x(from)
	shape := Shape{Class: "silence", X: x, Y: 3, W: round(max(2, w)), H: laneHeight - 6,
		Tip: c.tip(row, x, w, "JobSet "+lane.JobSet+" never had a pod", period(from, to))}
	for _, words := range [][2]string{{"no pod, ever", "파드 없음"}, {"no pod", "없음"}, {"0", "0"}} {
		if float64(len(words[0]))*signWidth+6 < w {
			shape.Sign, shape.SignKO = words[0], words[1]
			break
		}
	}
	c.Rows[row].Shapes = append(c.Rows[row].Shapes, shape)
}

// moments draws, through all lanes of a JobSet, when it began anew and when it was
// admitted as a whole.
func (c *Chart) moments(lanes []Lane, top float64, pods int, s scale) {
	add := func(class string, at float64, sign, signKO, about string) {
		if at >= s.from && at <= s.to {
			row := slices.IndexFunc(c.Rows, func(r Row) bool { return r.Y == top })
			c.Moments = append(c.Moments, Shape{Class: class, X: s.x(at), Y: top, H: c.Height - top, Sign: sign, SignKO: signKO,
				Tip: c.tip(row, s.x(at), 0, about, fmt.Sprintf("+%.1f s", at))})
		}
	}
	for _, lane := range lanes {
		for _, mark := range lane.Marks {
			if lane.Kind == "JobSet" && mark.What == "Restarts" {
				add("restart", mark.At, "↻ "+text.Shown(mark.Text, 3), "↻ "+text.Shown(mark.Text, 3), "JobSet "+lane.Name+" begins anew, restarts "+mark.Text)
			}
		}
		for _, bar := range lane.Bars {
			if lane.Kind == "Workload" && bar.Class == admitted && pods > 0 {
				add("admission", bar.From, fmt.Sprintf("◆ %s as one", text.Times(pods, "pod")), fmt.Sprintf("◆ 파드 %d개 한 덩어리", pods),
					fmt.Sprintf("Workload %s is admitted as one, for %s", bar.Object, text.Times(int(bar.GPUs), "GPU")))
			}
		}
	}
}

// wrapped breaks a line at blanks, into so many lines at most.
func wrapped(line string, columns, most int) []string {
	words := strings.Fields(shown(line))
	var lines []string
	now := ""
	for _, word := range words {
		if width(now)+1+width(word) > columns && now != "" {
			lines, now = append(lines, now), ""
		}
		for width(word) > columns {
			runes := []rune(word)
			lines, word = append(lines, string(runes[:columns/2])), string(runes[columns/2:])
		}
		now = strings.TrimSpace(now + " " + word)
	}
	lines = append(lines, now)
	if len(lines) > most {
		lines = append(lines[:most-1], lines[most-1]+" …")
	}
	return lines
}

func width(line string) int { return text.DisplayWidth(line) }
