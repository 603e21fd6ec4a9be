package lab

import (
	"fmt"
	"slices"
	"strings"
)

// A Story is a failure told so that a lab author sees what is wrong in the lab:
// the verdict in one sentence and the numbers side by side, then the
// controllers' own words, what exists, what happened, what was wanted, and
// where the evidence lies.
type Story struct {
	// Subject is what failed, such as a step by its name.
	Subject string
	Failure Failure

	// JobSets and Files are those that the story is about.
	JobSets []string
	Files   []string
	// Snapshot is the very one that was judged; nil if nothing could be seen.
	Snapshot *Snapshot

	// Task is what the lab text asks for.
	Task string
	// Evidence is the directory where the rest lies.
	Evidence string
}

// String tells the story.
func (s Story) String() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: %s\n", s.Subject, s.Failure.Stage, s.Failure.String())
	switch {
	case s.Failure.Blocker != nil:
		fmt.Fprintf(&text, "\nGiven up after %.1f s: %s.\n", s.Failure.Waited, shown(s.Failure.Blocker.Message, longestCell))
	case s.Failure.Waited > 0:
		fmt.Fprintf(&text, "\nWaited %.1f s for it.\n", s.Failure.Waited)
	}
	var others [][]string
	for _, other := range s.Failure.Others {
		others = append(others, []string{other.EN})
	}
	section(&text, "Besides", others)
	if s.Snapshot != nil {
		section(&text, "The controllers say", s.Snapshot.words(s.JobSets))
		section(&text, "What exists", s.Snapshot.inventory(s.JobSets, s.Files))
		section(&text, "What happened", s.Snapshot.latest(s.JobSets, 12))
		section(&text, "The watch broke, so what happened then may be missing above", s.Snapshot.gaps())
	}
	if s.Task != "" {
		section(&text, "What was wanted", [][]string{{s.Task}})
	}
	if s.Evidence != "" {
		section(&text, "Evidence", [][]string{{s.Evidence}})
	}
	return Visible(strings.TrimRight(text.String(), "\n"))
}

func section(text *strings.Builder, title string, rows [][]string) {
	if len(rows) > 0 {
		fmt.Fprintf(text, "\n%s\n%s\n", title, indent(columns(rows), "  "))
	}
}

// words are what the controllers said of these JobSets: conditions, why pods
// wait, and warnings.
func (s *Snapshot) words(jobSets []string) [][]string {
	var rows [][]string
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.live == nil {
			continue
		}
		for _, condition := range j.live.Status.Conditions {
			rows = append(rows, []string{"JobSet " + name, condition.Type + "=" + string(condition.Status), said(condition.Reason, condition.Message)})
		}
		for _, workload := range j.workloads() {
			for _, condition := range workload.Status.Conditions {
				rows = append(rows, []string{"Workload " + workload.Name, condition.Type + "=" + string(condition.Status), said(condition.Reason, condition.Message)})
			}
		}
		for _, job := range j.jobs() {
			for _, condition := range job.Status.Conditions {
				if condition.Type != "Suspended" {
					rows = append(rows, []string{"Job " + job.Name, string(condition.Type) + "=" + string(condition.Status), said(condition.Reason, condition.Message)})
				}
			}
		}
		rows = append(rows, s.warnings(name)...)
	}
	return rows
}

// warnings are the Warning events on the JobSet and all that is its: the last of
// each reason and object, and of these the last five.
func (s *Snapshot) warnings(jobSet string) [][]string {
	last := map[string]int{}
	for i, event := range s.Events {
		last[event.Object+event.Reason] = i
	}
	var rows [][]string
	for i, event := range s.Events {
		seen, known := s.Seen.Of(event.UID)
		if event.Type == "Warning" && known && seen.JobSet == jobSet && last[event.Object+event.Reason] == i {
			rows = append(rows, []string{"event on " + strings.Replace(event.Object, "/", " ", 1), event.Reason, event.Message})
		}
	}
	return rows[max(0, len(rows)-5):]
}

// inventory lists what there is of these JobSets, and the files.
func (s *Snapshot) inventory(jobSets, files []string) [][]string {
	var rows [][]string
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.live == nil {
			rows = append(rows, []string{"JobSet", name, "not there"})
			continue
		}
		rows = append(rows, []string{"JobSet", name, j.state()})
		for _, job := range j.jobs() {
			rows = append(rows, []string{"Job", job.Name, fmt.Sprintf("active %d, succeeded %d, failed %d, attempt %s",
				job.Status.Active, job.Status.Succeeded, job.Status.Failed, orNone(job.Labels[restartAttemptLabel]))})
		}
		for _, pod := range j.allPods() {
			about := []string{podState(&pod), "attempt " + orNone(pod.Labels[restartAttemptLabel])}
			if pod.Status.PodIP != "" {
				about = append(about, pod.Status.PodIP)
			}
			if device := s.Devices[pod.Name]; device != "" {
				about = append(about, device)
			}
			rows = append(rows, []string{"Pod", pod.Name, strings.Join(about, ", ")})
		}
		for _, workload := range j.workloads() {
			rows = append(rows, []string{"Workload", workload.Name, Workload{of: j, live: &workload}.state()})
		}
	}
	for _, name := range files {
		about, file := "not there", s.File(name)
		switch {
		case file.unread != nil:
			about = file.unread.EN
		case file.Written:
			about = file.quote()
			if strings.HasSuffix(name, ".yaml") {
				about = times(strings.Count(file.Text, "\n"), "line")
			}
		}
		rows = append(rows, []string{"File", name, about})
	}
	return rows
}

func (s *Snapshot) gaps() [][]string {
	var rows [][]string
	for _, gap := range s.Seen.Gaps {
		rows = append(rows, []string{gap})
	}
	return rows
}

// latest is the end of the timeline of these JobSets.
func (s *Snapshot) latest(jobSets []string, most int) [][]string {
	line := s.Seen.Timeline(func(sighting Sighting) bool { return slices.Contains(jobSets, sighting.JobSet) })
	if len(line) > most {
		line = append([][]string{{"…"}}, line[len(line)-most:]...)
	}
	return line
}
