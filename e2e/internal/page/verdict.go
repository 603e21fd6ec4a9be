package page

import (
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/preflight"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Version is what of one part was wanted and found.
type Version struct {
	Name, Wanted, Found string
	Differs             bool
}

// Versions are those of the lab. It pins no Kubernetes.
func (p Page) Versions() []Version { return versionsOf(p.Verdict) }

func versionsOf(v report.Verdict) []Version {
	if v.Found == (preflight.Versions{}) {
		return nil
	}
	var versions []Version
	for _, part := range []Version{
		{Name: "Kubernetes", Found: v.Found.Kubernetes},
		{Name: "JobSet", Wanted: v.Wanted.JobSet, Found: v.Found.JobSet},
		{Name: "Kueue", Wanted: v.Wanted.Kueue, Found: v.Found.Kueue},
	} {
		part.Differs = part.Wanted != "" && part.Wanted != part.Found
		part.Found = text.Or(part.Found, "?")
		versions = append(versions, part)
	}
	return versions
}

// Next is what the reader does next.
func (p Page) Next() []snapshot.Text {
	say := func(ko, en string, values ...any) snapshot.Text { return snapshot.TextOf(ko, en, values...) }
	v := p.Verdict
	var next []snapshot.Text
	for _, finding := range v.Preflight {
		if finding.Wrong() && len(next) < 3 {
			next = append(next, say("%s: %s", "%s: %s", finding.Check, finding.Fix))
		}
	}
	failed := p.failedSteps()
	switch {
	case p.Kind == "check" && v.Verdict == "failed":
		return []snapshot.Text{say("통과하지 않은 단계의 문장을 읽고 고친 뒤 다시 확인합니다.", "Read what is said of each step that is not passed, change that, and check again.")}
	case p.Kind == "check", v.Verdict == "passed":
		return nil
	case p.Kind == "faults":
		return []snapshot.Text{say("✕ 로 표시된 고장의 보고서를 엽니다.", "Open the report of each fault that is marked ✕.")}
	case len(next) > 0:
		return next
	case v.Verdict == "partial":
		next = append(next, say("릴리스 게이트(make gate)는 PASSED 만 받아들입니다. 아래 버전을 기준에 맞추거나, 빠진 단계를 실행합니다.",
			"The gate of a release takes PASSED alone: put the lab on the versions that are pinned, and run the steps that are missing."))
	case strings.Contains(v.Reason, "interrupted"):
		next = append(next, say("중단되기 전까지의 기록입니다. 다시 실행합니다: make e2e", "What is below ends where the run was interrupted. Run it again: make e2e"))
	case len(failed) > 0:
		next = append(next, say("실습을 남겨 두고 이 단계만 다시 봅니다: KEEP=1 make up steps STEP=%d", "Look at this step alone, on a lab that stays: KEEP=1 make up steps STEP=%d", failed[0].Number))
		if len(failed[0].Logs) > 0 {
			next = append(next, say("증거(객체, 이벤트, 로그): %s/evidence", "Evidence (objects, events, logs): %s/evidence", p.Files))
		}
	case v.Verdict == "not run":
		next = append(next, say("이유에 적힌 대로 고친 뒤 다시 실행합니다. make doctor 는 이 기계에 없는 것을 말합니다.", "Do what the reason says, and run again. make doctor says what this machine lacks."))
	}
	return next
}

func (p Page) failedSteps() []Item {
	var failed []Item
	for _, step := range p.Steps {
		if step.State == report.Failed {
			failed = append(failed, step)
		}
	}
	return failed
}

// Shown are the steps and mistakes of which there is more than a line: all steps that
// were tried, and the mistakes that failed.
func (p Page) Shown() []Item {
	var shown []Item
	for _, item := range p.Steps {
		if item.Tried() {
			shown = append(shown, item)
		}
	}
	for _, item := range p.Mistakes {
		if item.State == report.Failed {
			item.Number = 0
			shown = append(shown, item)
		}
	}
	return shown
}

// Tried reports whether there is anything of the item but its result.
func (i Item) Tried() bool {
	return len(i.Seen.Files)+len(i.Seen.Manifests)+len(i.Events)+len(i.Logs) > 0
}
