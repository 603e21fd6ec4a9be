package main

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/lab"
)

// annotations are workflow commands by which GitHub shows each failure beside the lines
// that it is about: of a step, what it does or how it is checked.
func annotations(verdict report.Verdict, course lab.Course) []string {
	var lines []string
	add := func(result report.Result, what string, does, checks any) {
		if result.State != report.Failed {
			return
		}
		about := checks
		if strings.HasPrefix(result.Why, report.NotDone) && !reflect.ValueOf(does).IsNil() {
			about = does
		}
		file, line := source(about)
		lines = append(lines, fmt.Sprintf("::error file=%s,line=%d,title=%s::%s", property(file), line, property(what+" "+string(result.Code)), message(result.Why)))
	}
	for _, result := range verdict.Steps {
		for _, step := range course.Steps {
			if step.Number == result.Number {
				add(result, fmt.Sprintf("step %d %s", step.Number, step.Name), step.Solve, step.Check)
			}
		}
	}
	for _, result := range verdict.Mistakes {
		for _, mistake := range course.Mistakes {
			if mistake.Name == result.Name {
				add(result, "mistake "+mistake.Name, mistake.Trigger, mistake.Check)
			}
		}
	}
	if first := verdict.FirstFailure; first != nil && len(lines) == 0 {
		lines = append(lines, fmt.Sprintf("::error title=%s::%s", property(first.By+" "+string(first.Code)), message(text.FirstLine(first.Message))))
	}
	return lines
}

// source is where a function is written, seen from the repository's root.
func source(function any) (file string, line int) {
	entry := reflect.ValueOf(function).Pointer()
	file, line = runtime.FuncForPC(entry).FileLine(entry)
	if _, inRepository, ok := strings.Cut(file, "jobset-e2e/e2e/"); ok {
		file = "e2e/" + inRepository
	} else if at := strings.LastIndex(file, "/e2e/"); at >= 0 {
		file = file[at+1:]
	}
	return file, line
}

// message and property escape as GitHub's own toolkit does: what was written by others
// must end neither the command nor one of its properties.
func message(value string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text.Shown(text.Redact(value), text.LongestCell))
}

func property(value string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(message(strings.TrimSpace(value)))
}
