package steps

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// The snapshots in testdata are real ones: `make record` runs a lab and keeps
// what each mistake, and the last step, was passed on. Only what differs from run
// to run and means nothing (the ends of pod names, UIDs, pod IPs, the node's name)
// is named anew, so that two recordings can be compared and messages stay as they are.

var record = flag.String("record", "", "the reports of a run to take the recordings in testdata from")

func TestRecord(t *testing.T) {
	if *record == "" {
		t.Skip("no -record: make update runs this")
	}
	last := Course.Steps[len(Course.Steps)-1]
	recordings := map[string]string{"solved.yaml": fmt.Sprintf("step%d-%s", last.Number, last.Name)}
	for _, mistake := range Course.Mistakes {
		recordings["mistakes/"+mistake.Name+".yaml"] = report.MistakeLabel + mistake.Name
	}
	for _, probe := range Course.Probes {
		recordings["claims/"+probe.Name+".yaml"] = report.ProbeLabel + probe.Name
	}
	dropOthers(t, recordings)
	for to, from := range recordings {
		content, err := os.ReadFile(filepath.Join(*record, "snapshots", from+".yaml"))
		if errors.Is(err, fs.ErrNotExist) && strings.HasPrefix(from, report.ProbeLabel) {
			t.Logf("the run did not prove %s, so its recording stays as it is", from)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if content, err = renamed(content); err != nil {
			t.Fatal(err)
		}
		header := fmt.Sprintf("# The snapshot that %s was passed on, on %s; make update writes it.\n", from, versionsOf(t, *record))
		to = filepath.Join("testdata", to)
		// What was recorded on the same versions shows nothing new, only other times.
		if kept, err := os.ReadFile(to); err == nil && !strings.HasPrefix(from, "step") && bytes.HasPrefix(kept, []byte(header)) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, append([]byte(header), content...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// dropOthers removes the recordings of mistakes and claims that are not in the list any more.
func dropOthers(t *testing.T, recordings map[string]string) {
	t.Helper()
	for _, folder := range []string{"mistakes", "claims"} {
		there, err := filepath.Glob(filepath.Join("testdata", folder, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range there {
			if recordings[folder+"/"+filepath.Base(path)] == "" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

func TestRecordingsGetLastingNames(t *testing.T) {
	t.Parallel()
	const first, second, job = "11111111-2222-3333-4444-555555555555", "11111111-2222-3333-4444-666666666666", "11111111-2222-3333-4444-777777777777"
	s := &snapshot.Snapshot{Files: map[string]string{"dns.txt": "Address: 10.244.0.1\nServer: 10.96.0.10\n"}}
	s.Seen.Objects = []snapshot.ObjectHistory{
		{Kind: "Pod", Name: "hello-leader-0-0-7xkqd", UID: first, Address: "10.244.0.12"},
		{Kind: "Workload", Name: "pod-hello-leader-0-0-7xkqd-49fb2", UID: job},
		{Kind: "Pod", Name: "hello-leader-0-0-b2c4d", UID: second, Address: "10.244.0.1"},
	}
	s.Events = []snapshot.Event{{Object: "Job/hello-leader-0", UID: job, Message: "Created pod: hello-leader-0-0-b2c4d on jdg-control-plane"}}
	s.Pods = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "hello-leader-0-0-b2c4d", UID: second}, Spec: corev1.PodSpec{NodeName: "jdg-control-plane"}}}
	content, err := s.YAML()
	if err == nil {
		content, err = renamed(content)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := snapshot.ParseSnapshot(content)
	if err != nil {
		t.Fatal(err)
	}
	seen := got.Seen.Objects
	if seen[0].Name != "hello-leader-0-0-aaaaa" || seen[1].Name != "pod-hello-leader-0-0-aaaaa-aaaaa" || seen[2].Name != "hello-leader-0-0-bbbbb" ||
		got.Pods[0].UID != seen[2].UID || got.Events[0].UID != seen[1].UID || seen[0].UID == seen[2].UID || seen[0].Address != "10.244.0.11" ||
		got.Events[0].Message != "Created pod: hello-leader-0-0-bbbbb on node" || got.Files["dns.txt"] != "Address: 10.244.0.12\nServer: 10.96.0.10\n" {
		t.Errorf("renamed to\n%s", content)
	}
}

func versionsOf(t *testing.T, reports string) string {
	t.Helper()
	var verdict report.Verdict
	content, err := os.ReadFile(filepath.Join(reports, "verdict.json"))
	if err == nil {
		err = json.Unmarshal(content, &verdict)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("Kubernetes %s, JobSet %s, Kueue %s", verdict.Found.Kubernetes, verdict.Found.JobSet, verdict.Found.Kueue)
}

var (
	uidPattern     = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)
	addressPattern = regexp.MustCompile(`\b\d+(\.\d+){3}\b`)
)

// place is an object's place among the steps, so that a new step's pods come after all
// others and change no address of theirs.
func place(of snapshot.ObjectHistory) int {
	return slices.IndexFunc(Course.Steps, func(step lab.Step) bool { return slices.Contains(step.JobSets, of.JobSet) })
}

// renamed gives a recording its lasting names.
func renamed(content []byte) ([]byte, error) {
	seen, err := snapshot.ParseSnapshot(content)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	if err := yaml.Unmarshal(content, &tree); err != nil {
		return nil, err
	}
	if content, err = yaml.Marshal(pruned(tree)); err != nil {
		return nil, err
	}
	names := lastingNames(seen)
	text := replacer(names).Replace(string(content))

	addresses := map[string]string{}
	for _, pod := range slices.SortedFunc(slices.Values(seen.Seen.Objects), func(a, b snapshot.ObjectHistory) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(names[a.Name], names[b.Name]))
	}) {
		if pod.Address != "" && addresses[pod.Address] == "" {
			addresses[pod.Address] = fmt.Sprintf("10.244.0.%d", 11+len(addresses))
		}
	}
	text = addressPattern.ReplaceAllStringFunc(text, func(found string) string { return cmp.Or(addresses[found], found) })
	uids := map[string]string{}
	text = uidPattern.ReplaceAllStringFunc(text, func(found string) string {
		if uids[found] == "" {
			uids[found] = fmt.Sprintf("uid-%d", 1+len(uids))
		}
		return uids[found]
	})
	return []byte(text), nil
}

// lastingNames gives each pod, in place of its random end, one that tells whether
// it was the first at its place or the second; and Workloads and the node theirs.
func lastingNames(s *snapshot.Snapshot) map[string]string {
	names, taken := map[string]string{}, map[string]int{}
	give := func(kind, name, stem string) {
		if names[name] == "" {
			letter := string(rune('a' + taken[kind+stem]))
			taken[kind+stem]++
			names[name] = stem + "-" + strings.Repeat(letter, 5)
		}
	}
	for _, kind := range []string{"Pod", "Workload"} { // a pod's own Workload has its name in its own
		for _, seen := range s.Seen.Objects {
			if end := strings.LastIndex(seen.Name, "-"); seen.Kind == kind && end > 0 {
				give(kind, seen.Name, replacer(names).Replace(seen.Name[:end]))
			}
		}
	}
	for _, pod := range s.Pods {
		if pod.Spec.NodeName != "" {
			names[pod.Spec.NodeName] = "node"
		}
	}
	return names
}

// replacer replaces the longest name first: some are parts of others.
func replacer(names map[string]string) *strings.Replacer {
	var pairs []string
	for _, name := range slices.Backward(slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)) })) {
		pairs = append(pairs, name, names[name])
	}
	return strings.NewReplacer(pairs...)
}

// pruned takes out what Go's types write though nothing is there, and moments
// that nobody asks for.
func pruned(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			inner = pruned(inner)
			empty, isMap := inner.(map[string]any)
			switch {
			case inner == nil, inner == "" && (key == "image" || key == "imageID"),
				isMap && len(empty) == 0 && key != "namespaceSelector", // there, empty is everything and none is nothing
				slices.Contains([]string{"lastTransitionTime", "observedGeneration", "startedAt", "finishedAt", "taken"}, key):
				delete(v, key)
			default:
				v[key] = inner
			}
		}
	case []any:
		for i := range v {
			v[i] = pruned(v[i])
		}
	}
	return value
}
