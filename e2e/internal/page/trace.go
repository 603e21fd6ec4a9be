package page

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// timelineName is the report that holds the Timeline, in Chrome's trace event format:
// Perfetto and chrome://tracing show it, and the page is made of it.
const timelineName = "timeline.json"

// A trace is a file of the trace event format. A "process" is a JobSet, a "thread" one
// of its lanes; process 0 is the run itself.
type trace struct {
	Events []traceEvent `json:"traceEvents"`
	Unit   string       `json:"displayTimeUnit"`
	Other  traceAbout   `json:"otherData"`
}

// traceAbout is what of a Timeline is no event.
type traceAbout struct {
	Start   time.Time `json:"start"`
	End     float64   `json:"end"`
	Lab     string    `json:"lab,omitempty"`
	Host    string    `json:"host,omitempty"`
	Quota   int64     `json:"quota,omitempty"`
	Devices int64     `json:"devices,omitempty"`
}

type traceEvent struct {
	Name     string     `json:"name"`
	Phase    string     `json:"ph"`
	Category string     `json:"cat,omitempty"`
	At       int64      `json:"ts"` // microseconds
	Lasts    int64      `json:"dur,omitempty"`
	Process  int        `json:"pid"`
	Thread   int        `json:"tid"`
	Scope    string     `json:"s,omitempty"`
	Args     *traceArgs `json:"args,omitempty"`
}

type traceArgs struct {
	Name    string `json:"name,omitempty"`
	Sort    *int   `json:"sort_index,omitempty"`
	Class   string `json:"class,omitempty"`
	Text    string `json:"text,omitempty"`
	Object  string `json:"object,omitempty"`
	Label   string `json:"label,omitempty"`
	Attempt string `json:"attempt,omitempty"`
	GPUs    *int64 `json:"gpus,omitempty"`
	Devices string `json:"devices,omitempty"`
	Warning bool   `json:"warning,omitempty"`
	// Group, JobSet and Kind of a lane are on its thread's name.
	Group  int    `json:"group,omitempty"`
	JobSet string `json:"jobSet,omitempty"`
	Kind   string `json:"kind,omitempty"`
}

// The threads of the run itself, which is process 0.
const (
	spansThread, commandsThread, gapsThread = 0, 1, 2
)

func micro(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

func (t Timeline) trace() trace {
	file := trace{Unit: "ms", Other: traceAbout{t.Start, t.End, t.Lab, t.Host, t.Quota, t.Devices}}
	add := func(event traceEvent) { file.Events = append(file.Events, event) }
	name := func(what string, process, thread int, args traceArgs) {
		add(traceEvent{Name: what, Phase: "M", Process: process, Thread: thread, Args: &args})
	}
	name("process_name", 0, 0, traceArgs{Name: "the run"})
	for thread, called := range []string{"steps and mistakes", "the learner", "gaps of the watch"} {
		name("thread_name", 0, thread, traceArgs{Name: called})
	}
	for _, span := range t.Spans {
		add(traceEvent{Name: span.Label, Phase: "X", Category: "run", At: micro(span.From), Lasts: micro(span.To - span.From),
			Thread: spansThread, Args: &traceArgs{Text: span.State}})
	}
	mark := func(m Mark, category string, process, thread int) {
		add(traceEvent{Name: m.What, Phase: "i", Category: category, At: micro(m.At), Process: process, Thread: thread, Scope: "t",
			Args: &traceArgs{Text: m.Text, Label: m.Label, Warning: m.Warning}})
	}
	for _, m := range t.Marks {
		mark(m, "run", 0, commandsThread)
	}
	for _, m := range t.Gaps {
		mark(m, "run", 0, gapsThread)
	}
	for _, used := range t.quotaUsed() {
		add(traceEvent{Name: "GPU quota used", Phase: "C", At: micro(used.at), Args: &traceArgs{GPUs: &used.gpus}})
	}
	process := 0
	var before group
	for i, lane := range t.Lanes {
		if i == 0 || lane.group() != before {
			process, before = process+1, lane.group()
			name("process_name", process, 0, traceArgs{Name: "JobSet " + text.OrNone(lane.JobSet)})
			name("process_sort_index", process, 0, traceArgs{Sort: &process})
		}
		thread := i + 1
		name("thread_name", process, thread, traceArgs{Name: lane.Kind + " " + lane.Name, Group: lane.Group, JobSet: lane.JobSet, Kind: lane.Kind, Object: lane.Name})
		for _, bar := range lane.Bars {
			add(traceEvent{Name: bar.State, Phase: "X", Category: lane.Kind, At: micro(bar.From), Lasts: micro(bar.To - bar.From), Process: process, Thread: thread,
				Args: &traceArgs{Class: bar.Class, Text: bar.Text, Object: bar.Object, Attempt: bar.Attempt, GPUs: &bar.GPUs, Devices: bar.Devices}})
		}
		for _, m := range lane.Marks {
			mark(m, lane.Kind, process, thread)
		}
	}
	return file
}

// timeline reads back what trace wrote.
func (file trace) timeline() Timeline {
	about := file.Other
	t := Timeline{Start: about.Start, End: about.End, Lab: about.Lab, Host: about.Host, Quota: about.Quota, Devices: about.Devices}
	lanes := map[int]int{}
	for _, event := range file.Events {
		if event.Args == nil {
			continue
		}
		args, at := *event.Args, float64(event.At)/1e6
		m := Mark{At: at, What: event.Name, Text: args.Text, Label: args.Label, Warning: args.Warning}
		lane, known := lanes[event.Thread]
		switch {
		case event.Phase == "M" && event.Name == "thread_name" && event.Process > 0:
			lanes[event.Thread] = len(t.Lanes)
			t.Lanes = append(t.Lanes, Lane{Group: args.Group, JobSet: args.JobSet, Kind: args.Kind, Name: args.Object})
		case event.Phase == "X" && event.Process == 0:
			t.Spans = append(t.Spans, Span{Label: event.Name, From: at, To: at + float64(event.Lasts)/1e6, State: args.Text})
		case event.Phase == "i" && event.Process == 0 && event.Thread == commandsThread:
			t.Marks = append(t.Marks, m)
		case event.Phase == "i" && event.Process == 0:
			t.Gaps = append(t.Gaps, m)
		case event.Phase == "X" && known:
			bar := Bar{From: at, To: at + float64(event.Lasts)/1e6, Class: args.Class, State: event.Name, Text: args.Text,
				Object: args.Object, Attempt: args.Attempt, Devices: args.Devices}
			if args.GPUs != nil {
				bar.GPUs = *args.GPUs
			}
			t.Lanes[lane].Bars = append(t.Lanes[lane].Bars, bar)
		case event.Phase == "i" && known:
			t.Lanes[lane].Marks = append(t.Lanes[lane].Marks, m)
		}
	}
	return t
}

// save writes the timeline into a folder of reports.
func (t Timeline) save(folder string) error {
	content, err := json.Marshal(t.trace())
	if err == nil {
		err = files.ReplaceFile(filepath.Join(folder, timelineName), []byte(text.Redact(string(content))))
	}
	if err != nil {
		return fmt.Errorf("saving the timeline: %w", err)
	}
	return nil
}

func readTimeline(folder string) (Timeline, error) {
	var file trace
	content, err := os.ReadFile(filepath.Join(folder, timelineName))
	if err == nil {
		err = json.Unmarshal(content, &file)
	}
	return file.timeline(), err
}
