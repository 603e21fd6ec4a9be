package matchers

import (
	"strings"
	"testing"

	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// A file that says too little is not the manifest of what stands in the cluster,
// even if nothing that it says is wrong.
func TestAManifestThatSaysTooLittle(t *testing.T) {
	t.Parallel()
	content, err := fixtures.Read("steps/train.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var live jobsetv1.JobSet
	if err := yaml.Unmarshal(content, &live); err != nil {
		t.Fatal(err)
	}
	whole := string(content)
	head, _, _ := strings.Cut(whole, "spec:\n")
	leaderOnly, _, _ := strings.Cut(whole, "  - name: worker\n    replicas")
	for what, wrong := range map[string]struct{ file, path string }{
		"no spec":                 {head, "spec.replicatedJobs"},
		"an empty spec behind it": {whole + "spec: {}\n", "spec.replicatedJobs"},
		"no queue label":          {strings.Replace(whole, "    kueue.x-k8s.io/queue-name: lq\n", "", 1), "metadata.labels.kueue.x-k8s.io/queue-name"},
		"one role":                {leaderOnly, "spec.replicatedJobs"},
		"no parallelism":          {strings.ReplaceAll(whole, "parallelism: 2", ""), "spec.replicatedJobs[worker].template.spec.parallelism"},
		"no completions":          {strings.ReplaceAll(whole, "completions: 2", ""), "spec.replicatedJobs[worker].template.spec.completions"},
		"no GPU":                  {strings.ReplaceAll(whole, "nvidia.com/gpu", "example.com/gpu"), ""},
	} {
		snapshot := &snapshot.Snapshot{Namespace: "ml", GPUResource: "nvidia.com/gpu", JobSets: []jobsetv1.JobSet{live},
			Files: map[string]string{"train.yaml": wrong.file, "whole.yaml": whole}}
		judge := BeTheManifestOf(snapshot.JobSet("train"))
		if refusal := judge(snapshot.File("whole.yaml")); refusal != nil {
			t.Fatalf("the fixture itself is refused: %s", refusal)
		}
		refusal := judge(snapshot.File("train.yaml"))
		if refusal == nil {
			t.Errorf("%s: passed", what)
			continue
		}
		if refusal.Code != ManifestDiffers && wrong.path != "" || wrong.path != "" && refusal.Rows[0].What != wrong.path {
			t.Errorf("%s is reported as:\n%s", what, refusal)
		}
	}
}

// What a file leaves to its default is in the cluster; a 0 that it says is not left out.
func TestAManifestThatLeavesDefaultsOut(t *testing.T) {
	t.Parallel()
	content, err := fixtures.Read("steps/fragile.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var live jobsetv1.JobSet
	if err := yaml.Unmarshal(content, &live); err != nil {
		t.Fatal(err)
	}
	whole := string(content)
	retried := live.DeepCopy()
	retried.Spec.ReplicatedJobs[1].Template.Spec.BackoffLimit = ptr.To[int32](6)
	for what, c := range map[string]struct {
		live *jobsetv1.JobSet
		file string
		path string
	}{
		"no replicas":         {&live, strings.ReplaceAll(whole, "    replicas: 1\n", ""), ""},
		"no imagePullPolicy":  {&live, strings.ReplaceAll(whole, "              imagePullPolicy: IfNotPresent\n", ""), ""},
		"another number of 0": {retried, whole, "spec.replicatedJobs[worker].template.spec.backoffLimit"},
		"another of 2":        {&live, strings.Replace(whole, "maxRestarts: 2", "maxRestarts: 1", 1), "spec.failurePolicy.maxRestarts"},
	} {
		seen := &snapshot.Snapshot{Namespace: "ml", JobSets: []jobsetv1.JobSet{*c.live}, Files: map[string]string{"fragile.yaml": c.file}}
		refusal := BeTheManifestOf(seen.JobSet("fragile"))(seen.File("fragile.yaml"))
		if c.path == "" && refusal != nil || c.path != "" && (refusal == nil || refusal.Rows[0].What != c.path) {
			t.Errorf("%s: %v", what, refusal)
		}
	}
}
