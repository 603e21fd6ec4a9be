package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
)

// gpus draws how much of the quota was given away, who waited for it, and which device
// was whose.
func (t Timeline) gpus(c *Chart, s scale) {
	if t.Quota == 0 {
		return
	}
	t.quota(c, s)
	for _, device := range t.devices() {
		row := c.row(Row{Kind: "device", H: deviceHeight, Label: device})
		for _, held := range t.holders(device) {
			if !s.covers(held) {
				continue
			}
			x, w := s.x(held.From), max(1.5, s.x(held.To)-s.x(held.From))
			shape := Shape{Class: "held-device", X: x, Y: 2, W: round(w), H: deviceHeight - 4,
				Tip: c.tip(row, x, w, device+" is held by pod "+held.Object, period(held.From, held.To))}
			if name := held.Text; float64(len(name))*signWidth+6 < w {
				shape.Sign = name
			}
			c.Rows[row].Shapes = append(c.Rows[row].Shapes, shape)
		}
	}
}

func (t Timeline) quota(c *Chart, s scale) {
	row := c.row(Row{Kind: "quota", H: quotaHeight, Label: fmt.Sprintf("%d", t.Quota)})
	most := t.Quota
	used := t.quotaUsed()
	for _, step := range used {
		most = max(most, step.gpus)
	}
	base := float64(quotaHeight - 4)
	y := func(gpus int64) float64 { return round(base - float64(gpus)/float64(most)*(base-8)) }
	c.Rows[row].Limit = y(t.Quota)
	var path strings.Builder
	fmt.Fprintf(&path, "M0 %g", base)
	var before int64
	for _, step := range used {
		if step.at < s.from {
			before = step.gpus
		}
	}
	fmt.Fprintf(&path, "V%g", y(before))
	for i, step := range used {
		if step.at < s.from || step.at > s.to {
			continue
		}
		fmt.Fprintf(&path, "H%gV%g", s.x(step.at), y(step.gpus))
		end := s.to
		if i+1 < len(used) {
			end = min(used[i+1].at, s.to)
		}
		if x, w := s.x(step.at), s.x(end)-s.x(step.at); step.gpus > 0 {
			shape := Shape{Class: "quota-used", X: x, Y: y(step.gpus), W: round(max(1.5, w)), H: base - y(step.gpus),
				Tip: c.tip(row, x, w, fmt.Sprintf("%d of %s of the quota are given away", step.gpus, text.Times(int(t.Quota), "GPU")), period(step.at, end))}
			if w > 40 {
				shape.Sign = fmt.Sprintf("%d / %d", step.gpus, t.Quota)
			}
			c.Rows[row].Shapes = append(c.Rows[row].Shapes, shape)
		}
	}
	fmt.Fprintf(&path, "H%d", chartWidth)
	fmt.Fprintf(&path, "V%gZ", base)
	c.Rows[row].Path = path.String()
	t.waiting(c, s)
}

// waiting draws which Workloads the queue did not admit, one line for all of them.
func (t Timeline) waiting(c *Chart, s scale) {
	row := c.row(Row{Kind: "queue", H: laneHeight, Label: "queue"})
	for _, lane := range t.Lanes {
		for _, bar := range lane.Bars {
			if lane.Kind != "Workload" || bar.Class != held || !s.covers(bar) {
				continue
			}
			x, w := s.x(bar.From), max(1.5, s.x(bar.To)-s.x(bar.From))
			shape := Shape{Class: held + " workload", X: x, Y: 3, W: round(w), H: laneHeight - 6,
				Tip: c.tip(row, x, w, "Workload "+bar.Object+" waits in the queue", period(bar.From, bar.To), bar.Text)}
			for _, words := range [][2]string{{lane.JobSet + " waits", lane.JobSet + " 대기"}, {lane.JobSet, lane.JobSet}} {
				if float64(width(words[0]))*signWidth+6 < w {
					shape.Sign, shape.SignKO = words[0], words[1]
					break
				}
			}
			c.Rows[row].Shapes = append(c.Rows[row].Shapes, shape)
		}
	}
}

// devices are the names of the GPUs: those that pods were seen to hold, and as many
// more as the node has.
func (t Timeline) devices() []string {
	var names []string
	for _, lane := range t.Lanes {
		for _, bar := range lane.Bars {
			for name := range strings.SplitSeq(bar.Devices, ",") {
				if name = strings.TrimSpace(name); name != "" {
					names = append(names, name)
				}
			}
		}
	}
	for i := range t.Devices {
		names = append(names, fmt.Sprintf("gpu-%d", i))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), 16)]
}

// holders are the times for which pods held a device; Text is the JobSet.
func (t Timeline) holders(device string) []Bar {
	var holders []Bar
	for _, lane := range t.Lanes {
		for _, bar := range lane.Bars {
			holds := slices.ContainsFunc(strings.Split(bar.Devices, ","), func(name string) bool { return strings.TrimSpace(name) == device })
			if lane.Kind != "Pod" || !holds || bar.Class == pending || bar.Class == completed {
				continue
			}
			bar.Text = lane.JobSet
			holders = append(holders, bar)
		}
	}
	slices.SortStableFunc(holders, func(a, b Bar) int { return cmp.Compare(a.From, b.From) })
	// One pod may go through several states meanwhile.
	var joined []Bar
	for _, bar := range holders {
		if last := len(joined) - 1; last >= 0 && joined[last].Object == bar.Object {
			joined[last].To = max(joined[last].To, bar.To)
			continue
		}
		joined = append(joined, bar)
	}
	return joined
}
