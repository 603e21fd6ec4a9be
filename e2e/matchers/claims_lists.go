package matchers

import (
	"fmt"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The judgements of what the lab text claims of lists and of the queue.

// ShowEachJobSet judges that a table of kubectl has these columns, and for each JobSet
// its values in them.
func ShowEachJobSet(columns ...string) Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *Mismatch {
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
func ShowEachWorkload(columns ...string) Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *Mismatch {
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

func showsEach(table snapshot.Table, columns, names []string, values func(name string) []string) *Mismatch {
	if len(names) == 0 {
		return NewInternalMismatch(RowWrong, "There is nothing to list.").Row("rows", "at least 1", 0)
	}
	for _, column := range columns {
		if !slices.Contains(table.Columns, column) {
			return NewInternalMismatch(ColumnMissing, "kubectl get shows no column %s.", column).Row("columns", text.List(columns), text.List(table.Columns))
		}
	}
	for _, name := range names {
		for i, wanted := range values(name) {
			if found, there := table.Cell(name, columns[i]); !there || found != wanted {
				return NewInternalMismatch(RowWrong, "kubectl get shows another value for %s.", name).Row(name+" "+columns[i], text.OrNone(wanted), text.OrNone(found))
			}
		}
	}
	return nil
}

// QueueOnlyWhatIsLabelled judges that a JobSet without a queue label never had a Workload,
// nor its Jobs or pods, and that there is such a JobSet.
func QueueOnlyWhatIsLabelled() Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *Mismatch {
		without := 0
		for _, name := range namesOf(s) {
			j := s.JobSet(name)
			if j.Queue() != "" {
				continue
			}
			without++
			if r := HaveNoWorkload()(j); r != nil {
				return r
			}
			for _, seen := range s.Seen.Objects {
				_, owner, _ := strings.Cut(seen.Owner, "/")
				if seen.Kind == "Workload" && (owner == name || strings.HasPrefix(owner, name+"-")) {
					return NewInternalMismatch(WorkloadUnexpected, "JobSet %s has no queue label, and %s has had a Workload.", name, seen.Owner).
						Row("Workloads of "+name, "none, ever", seen.Name)
				}
			}
		}
		if without == 0 {
			return NewInternalMismatch(JobSetNotFound, "There is no JobSet without a queue label.").Row("JobSets without a queue label", "at least 1", 0)
		}
		return nil
	}
}

// LendNothing judges that the ClusterQueue has all of its quota of a resource left.
func LendNothing(resource string, quota int64) Matcher[snapshot.Queue] {
	return func(q snapshot.Queue) *Mismatch {
		if q.Live == nil {
			return NewInternalMismatch(ClusterQueueNotFound, "There is no ClusterQueue for the lab's LocalQueue to lead to.")
		}
		reserved := usage(q.Live.Status.FlavorsReservation, resource)
		if reserved == 0 && q.Quota(resource) == quota {
			return nil
		}
		return NewInternalMismatch(QuotaInUse, "ClusterQueue %s has lent %d of a quota of %d.", q.Live.Name, reserved, q.Quota(resource)).
			Row("quota", quota, q.Quota(resource)).Row("reserved", 0, reserved)
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
