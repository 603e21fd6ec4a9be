package matchers

import (
	"slices"
	"strings"

	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// BeInQueue judges that the queue label is on the JobSet itself, where Kueue
// looks for it.
func BeInQueue(queue string) Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		if j.Queue() == queue {
			return nil
		}
		label := "label " + kueueconstants.QueueLabel
		if lower := queueLabelsBelow(j); j.Queue() == "" && len(lower) > 0 {
			return NewMismatch(QueueLabelMisplaced, snapshot.TextOf("JobSet %s 의 큐 라벨이 "+lower[0].KO+"에 붙어 있고 JobSet 자신에는 없어서, Kueue 가 한 덩어리로 입장시키지 않습니다.",
				"JobSet %s has its queue label on the "+lower[0].EN+" and not on itself, so Kueue does not admit it as one.", j.Name)).Row(label, queue+" on the JobSet", "on the "+inEnglish(lower))
		}
		if j.Queue() == "" {
			return NewMismatch(QueueLabelMissing, snapshot.TextOf("JobSet %s 에 큐 라벨이 없어서 Kueue 가 이 JobSet 을 모릅니다.", "JobSet %s has no queue label, so Kueue does not know of it.", j.Name)).Row(label, queue, "none")
		}
		if cluster := j.Snapshot.ClusterQueue; cluster != nil && j.Queue() == cluster.Name {
			return NewMismatch(QueueLabelNamesClusterQueue, snapshot.TextOf("JobSet %s 의 큐 라벨이 ClusterQueue %s 를 가리키는데, 큐 라벨에는 LocalQueue 의 이름이 옵니다.",
				"JobSet %s has a queue label that names ClusterQueue %s; a queue label names a LocalQueue.", j.Name, cluster.Name)).Row(label, queue, j.Queue())
		}
		return NewMismatch(QueueLabelWrong, snapshot.TextOf("JobSet %s 의 큐 라벨 값이 %s 인데, 실습의 큐는 %s 입니다.", "JobSet %s is in queue %s; the lab's queue is %s.", j.Name, j.Queue(), queue)).Row(label, queue, j.Queue())
	}
}

// BeInNoQueue judges that the queue label is nowhere on the JobSet.
func BeInNoQueue() Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *Mismatch {
		if r := MissingJobSet(j); r != nil {
			return r
		}
		places := queueLabelsBelow(j)
		if j.Queue() != "" {
			places = append([]snapshot.Text{{KO: "JobSet", EN: "JobSet"}}, places...)
		}
		if len(places) == 0 {
			return nil
		}
		manifest, saved := j.Snapshot.Files[j.Name+".yaml"]
		if saved && !strings.Contains(manifest, kueueconstants.QueueLabel) {
			words := snapshot.TextOf("JobSet %s 에 %[1]s.yaml 에 없는 큐 라벨이 붙어 있는데, 이 단계의 JobSet 에는 없어야 합니다.",
				"JobSet %s carries a queue label that %[1]s.yaml does not have; the lab wants it without one.", j.Name)
			if slices.ContainsFunc(j.Snapshot.LocalQueues, func(queue kueuev1.LocalQueue) bool { return queue.Name == "default" && j.Queue() == "default" }) {
				words = snapshot.TextOf("LocalQueue default 가 JobSet %s 에 %[1]s.yaml 에 없는 큐 라벨을 붙였습니다.",
					"LocalQueue default gave JobSet %s a queue label that %[1]s.yaml does not have.", j.Name)
			}
			return NewMismatch(QueueLabelUnexpected, words).
				Row("label "+kueueconstants.QueueLabel, "none", "on the "+inEnglish(places))
		}
		return NewMismatch(QueueLabelUnexpected, snapshot.TextOf("JobSet %s 에 큐 라벨이 붙어 있는데, 이 단계의 JobSet 에는 없어야 합니다.",
			"JobSet %s carries a queue label; the lab wants it without one.", j.Name)).
			Row("label "+kueueconstants.QueueLabel, "none", "on the "+inEnglish(places))
	}
}

// queueLabelsBelow names the places below the JobSet's own metadata that carry
// the queue label.
func queueLabelsBelow(j snapshot.JobSet) []snapshot.Text {
	var places []snapshot.Text
	for _, role := range j.Live.Spec.ReplicatedJobs {
		if role.Template.Labels[kueueconstants.QueueLabel] != "" {
			places = append(places, snapshot.TextOf("%s 역할의 Job 템플릿", "Job template of %s", role.Name))
		}
		if role.Template.Spec.Template.Labels[kueueconstants.QueueLabel] != "" {
			places = append(places, snapshot.TextOf("%s 역할의 파드 템플릿", "pod template of %s", role.Name))
		}
	}
	return places
}

func inEnglish(places []snapshot.Text) string {
	var names []string
	for _, place := range places {
		names = append(names, place.EN)
	}
	return strings.Join(names, ", ")
}
