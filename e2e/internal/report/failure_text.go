package report

import (
	"fmt"
	"slices"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A FailureReport is a failure written so that a lab author sees what is wrong in the lab:
// the verdict in one sentence and the numbers side by side, then the
// controllers' own words, what exists, what happened, what was wanted, and
// where the evidence lies.
type FailureReport struct {
	// Subject is what failed, such as a step by its name.
	Subject string
	Failure Failure

	// JobSets and Files are those that the failure is about.
	JobSets []string
	Files   []string
	// Snapshot is the very one that was judged; nil if nothing could be seen.
	Snapshot *snapshot.Snapshot

	// Task is what the lab text asks for.
	Task string
	// Evidence is the directory where the rest lies.
	Evidence string
}

// String is the failure as text for a terminal.
func (s FailureReport) String() string {
	var out strings.Builder
	switch {
	case s.Failure.Blocker != nil:
		// The cause comes first, and then what it brought about.
		fmt.Fprintf(&out, "%s %s: %s.\n\n%s\n\nGiven up after %.1f s.\n", s.Subject, s.Failure.Stage,
			text.Shown(s.Failure.Blocker.Message, text.LongestCell), s.Failure.String(), s.Failure.Waited)
	default:
		fmt.Fprintf(&out, "%s %s: %s\n", s.Subject, s.Failure.Stage, s.Failure.String())
	}
	switch {
	case s.Failure.Blocker != nil:
	case s.Failure.Waited > 0:
		fmt.Fprintf(&out, "\nWaited %.1f s for it.\n", s.Failure.Waited)
	}
	var others [][]string
	for _, other := range s.Failure.Others {
		others = append(others, []string{other.EN})
	}
	section(&out, "Besides", others)
	if s.Snapshot != nil {
		section(&out, "The controllers say", words(s.Snapshot, s.JobSets))
		section(&out, "What exists", inventory(s.Snapshot, s.JobSets, s.Files))
		section(&out, "What happened", latest(s.Snapshot, s.JobSets, 12))
		section(&out, "The watch broke, so what happened then may be missing above", gaps(s.Snapshot))
	}
	if s.Task != "" {
		section(&out, "What was wanted", [][]string{{s.Task}})
	}
	if s.Evidence != "" {
		section(&out, "Evidence", [][]string{{s.Evidence}})
	}
	return text.Visible(strings.TrimRight(out.String(), "\n"))
}

func section(out *strings.Builder, title string, rows [][]string) {
	if len(rows) > 0 {
		fmt.Fprintf(out, "\n%s\n%s\n", title, text.Indent(text.Columns(rows), "  "))
	}
}

// words are what the controllers said of these JobSets: conditions, why pods
// wait, and warnings.
func words(s *snapshot.Snapshot, jobSets []string) [][]string {
	var rows [][]string
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.Live == nil {
			continue
		}
		for _, condition := range j.Live.Status.Conditions {
			rows = append(rows, []string{"JobSet " + name, condition.Type + "=" + string(condition.Status), text.ReasonAndMessage(condition.Reason, condition.Message)})
		}
		for _, workload := range j.Workloads() {
			for _, condition := range workload.Status.Conditions {
				rows = append(rows, []string{"Workload " + workload.Name, condition.Type + "=" + string(condition.Status), text.ReasonAndMessage(condition.Reason, condition.Message)})
			}
		}
		for _, job := range j.Jobs() {
			for _, condition := range job.Status.Conditions {
				if condition.Type != "Suspended" {
					rows = append(rows, []string{"Job " + job.Name, string(condition.Type) + "=" + string(condition.Status), text.ReasonAndMessage(condition.Reason, condition.Message)})
				}
			}
		}
		rows = append(rows, warnings(s, name)...)
	}
	return rows
}

// warnings are the Warning events on the JobSet and all that is its: the last of
// each reason and object, and of these the last five.
func warnings(s *snapshot.Snapshot, jobSet string) [][]string {
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
func inventory(s *snapshot.Snapshot, jobSets, files []string) [][]string {
	var rows [][]string
	for _, name := range jobSets {
		j := s.JobSet(name)
		if j.Live == nil {
			rows = append(rows, []string{"JobSet", name, "not there"})
			continue
		}
		rows = append(rows, []string{"JobSet", name, j.State()})
		for _, job := range j.Jobs() {
			rows = append(rows, []string{"Job", job.Name, fmt.Sprintf("active %d, succeeded %d, failed %d, attempt %s",
				job.Status.Active, job.Status.Succeeded, job.Status.Failed, text.OrNone(job.Labels[snapshot.RestartAttemptLabel]))})
		}
		for _, pod := range j.AllPods() {
			about := []string{snapshot.PodState(&pod), "attempt " + text.OrNone(pod.Labels[snapshot.RestartAttemptLabel])}
			if pod.Status.PodIP != "" {
				about = append(about, pod.Status.PodIP)
			}
			if device := s.Devices[pod.Name]; device != "" {
				about = append(about, device)
			}
			rows = append(rows, []string{"Pod", pod.Name, strings.Join(about, ", ")})
		}
		for _, workload := range j.Workloads() {
			rows = append(rows, []string{"Workload", workload.Name, snapshot.Workload{Of: j, Live: &workload}.State()})
		}
	}
	for _, name := range files {
		about, file := "not there", s.File(name)
		switch {
		case file.Unread != nil:
			about = file.Unread.EN
		case file.Written:
			about = file.Quote()
			if strings.HasSuffix(name, ".yaml") {
				about = text.Times(strings.Count(file.Text, "\n"), "line")
			}
		}
		rows = append(rows, []string{"File", name, about})
	}
	return rows
}

func gaps(s *snapshot.Snapshot) [][]string {
	var rows [][]string
	for _, gap := range s.Seen.Gaps {
		rows = append(rows, []string{gap})
	}
	return rows
}

// latest is the end of the timeline of these JobSets.
func latest(s *snapshot.Snapshot, jobSets []string, most int) [][]string {
	line := s.Seen.Timeline(func(sighting snapshot.ObjectHistory) bool { return slices.Contains(jobSets, sighting.JobSet) })
	if len(line) > most {
		line = append([][]string{{"…"}}, line[len(line)-most:]...)
	}
	return line
}
