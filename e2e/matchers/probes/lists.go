package probes

import (
	"fmt"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// ShowEachJobSet judges that a table of kubectl has these columns, and for each JobSet
// its values in them.
func ShowEachJobSet(columns ...string) matchers.Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *matchers.Mismatch {
		return showsEach(s.Answers.Tables["jobsets"], columns, namesOf(s), func(name string) []string {
			j := s.JobSet(name)
			completed := ""
			if condition := j.Condition(jobsetv1.JobSetCompleted); condition != nil {
				completed = string(condition.Status)
			}
			suspended := ""
			if j.Live.Spec.Suspend != nil {
				suspended = fmt.Sprint(*j.Live.Spec.Suspend)
			}
			return []string{fmt.Sprint(j.Restarts()), completed, suspended}
		})
	}
}

// ShowEachWorkload judges the same of the Workloads that JobSets own: to which queue each
// belongs and whether it is admitted.
func ShowEachWorkload(columns ...string) matchers.Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *matchers.Mismatch {
		values := map[string][]string{}
		var names []string
		for _, jobSet := range namesOf(s) {
			for _, workload := range s.JobSet(jobSet).Workloads() {
				admitted := ""
				if condition := (snapshot.Workload{Of: s.JobSet(jobSet), Live: &workload}).Condition(kueuev1.WorkloadAdmitted); condition != nil {
					admitted = string(condition.Status)
				}
				names = append(names, workload.Name)
				values[workload.Name] = []string{string(workload.Spec.QueueName), admitted}
			}
		}
		return showsEach(s.Answers.Tables["workloads"], columns, names, func(name string) []string { return values[name] })
	}
}

func showsEach(table snapshot.Table, columns, names []string, values func(name string) []string) *matchers.Mismatch {
	if len(names) == 0 {
		return matchers.NewInternalMismatch(matchers.RowWrong, "There is nothing to list.").Row("rows", "at least 1", 0)
	}
	for _, column := range columns {
		if !slices.Contains(table.Columns, column) {
			return matchers.NewInternalMismatch(matchers.ColumnMissing, "kubectl get shows no column %s.", column).Row("columns", text.List(columns), text.List(table.Columns))
		}
	}
	for _, name := range names {
		for i, wanted := range values(name) {
			if found, there := table.Cell(name, columns[i]); !there || found != wanted {
				return matchers.NewInternalMismatch(matchers.RowWrong, "kubectl get shows another value for %s.", name).Row(name+" "+columns[i], text.OrNone(wanted), text.OrNone(found))
			}
		}
	}
	return nil
}

// QueueOnlyWhatIsLabelled judges that a JobSet without a queue label never had a Workload,
// nor its Jobs or pods, and that there is such a JobSet.
func QueueOnlyWhatIsLabelled() matchers.Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *matchers.Mismatch {
		without := 0
		for _, name := range namesOf(s) {
			j := s.JobSet(name)
			if j.Queue() != "" {
				continue
			}
			without++
			if r := matchers.HaveNoWorkload()(j); r != nil {
				return r
			}
			for _, seen := range s.Seen.Objects {
				_, owner, _ := strings.Cut(seen.Owner, "/")
				if seen.Kind == "Workload" && (owner == name || strings.HasPrefix(owner, name+"-")) {
					return matchers.NewInternalMismatch(matchers.WorkloadUnexpected, "JobSet %s has no queue label, and %s has had a Workload.", name, seen.Owner).
						Row("Workloads of "+name, "none, ever", seen.Name)
				}
			}
		}
		if without == 0 {
			return matchers.NewInternalMismatch(matchers.JobSetNotFound, "There is no JobSet without a queue label.").Row("JobSets without a queue label", "at least 1", 0)
		}
		return nil
	}
}

// namesOf are the names of the JobSets there are.
func namesOf(s *snapshot.Snapshot) []string {
	var names []string
	for _, jobSet := range s.JobSets {
		names = append(names, jobSet.Name)
	}
	return names
}
