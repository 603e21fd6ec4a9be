package install

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/poll"
)

func TestTheLabFixtureIsWhatQueuesApplies(t *testing.T) {
	t.Parallel()
	content, err := fixtures.Read(labFixture)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := parse(content)
	if err != nil {
		t.Fatal(err)
	}
	if len(objects[rankNamespace]) != 1 || len(objects[rankPlain]) != 3 || len(objects) != 2 {
		t.Errorf("ranks other than the two that are applied: %v", objects)
	}
}

func TestQueuesAreActiveAndHoldTheQuotaOrNot(t *testing.T) {
	t.Parallel()
	active := []metav1.Condition{{Type: "Active", Status: metav1.ConditionTrue, ObservedGeneration: 1, Reason: "Ready"}}
	stopped := []metav1.Condition{{Type: "Active", Status: metav1.ConditionFalse, ObservedGeneration: 1, Reason: "Stopped", Message: "is stopped"}}
	type pair struct {
		local *kueuev1beta2.LocalQueue
		whole *kueuev1beta2.ClusterQueue
	}
	queues := func(change func(pair)) pair {
		p := pair{&kueuev1beta2.LocalQueue{}, &kueuev1beta2.ClusterQueue{}}
		p.local.Name, p.local.Generation, p.local.Spec.ClusterQueue, p.local.Status.Conditions = "lq", 1, "ml", active
		p.whole.Name, p.whole.Generation, p.whole.Status.Conditions = "ml", 1, active
		if err := yaml.Unmarshal([]byte(`
resourceGroups:
- coveredResources: [nvidia.com/gpu]
  flavors: [{name: default-flavor, resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}]
`), &p.whole.Spec); err != nil {
			t.Fatal(err)
		}
		change(p)
		return p
	}
	for _, test := range []struct {
		name, says string
		lasting    bool
		change     func(pair)
	}{
		{"nobody has looked at the ClusterQueue", "not looked", false, func(p pair) { p.whole.Status.Conditions = nil }},
		{"nobody has looked at the LocalQueue", "not looked", false, func(p pair) { p.local.Status.Conditions = nil }},
		{"the verdict is on an older spec", "last change", false, func(p pair) { p.whole.Generation = 2 }},
		{"the ClusterQueue is stopped", "Stopped: is stopped", false, func(p pair) { p.whole.Status.Conditions = stopped }},
		{"the LocalQueue is stopped", "LocalQueue lq is not Active", false, func(p pair) { p.local.Status.Conditions = stopped }},
		{"the LocalQueue leads elsewhere", "leads to ClusterQueue other", true, func(p pair) { p.local.Spec.ClusterQueue = "other" }},
		{"the quota is of something else", "quota of 0", true, func(p pair) { p.whole.Spec.ResourceGroups[0].Flavors[0].Resources[0].Name = "cpu" }},
		{"the quota is gone", "quota of 0", true, func(p pair) { p.whole.Spec.ResourceGroups = nil }},
	} {
		p := queues(test.change)
		said, err := checkQueues(p.local, p.whole, "nvidia.com/gpu", 3)
		if err == nil || said != "" || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %q, %v; it should say %q", test.name, said, err, test.says)
		}
		if pending := poll.Pending(""); errors.As(err, &pending) == test.lasting {
			t.Errorf("%s: lasting should be %v: %v", test.name, test.lasting, err)
		}
	}
	p := queues(func(pair) {})
	if said, err := checkQueues(p.local, p.whole, "nvidia.com/gpu", 3); err != nil || said != "lq → ml, 3 × nvidia.com/gpu, Active" {
		t.Errorf("the lab's queues: %q, %v", said, err)
	}
	for _, wanted := range []int64{2, 4} {
		if _, err := checkQueues(p.local, p.whole, "nvidia.com/gpu", wanted); err == nil {
			t.Errorf("a quota of 3 was taken for %d", wanted)
		}
	}
}
