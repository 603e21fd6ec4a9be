package faults

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The faults that the suite has promised to report.
var promised = []string{
	"quota-2", "quota-5", "flavor-without-node", "clusterqueue-on-hold", "localqueue-missing", "localqueue-elsewhere",
	"namespaceselector-null", "strictfifo-blocked", "kueue-without-jobset", "kueue-down", "jobset-down", "wrong-cabundle",
	"jobset-other-version", "device-plugin-gone", "two-devices", "unhealthy-device", "coredns-down", "dns-denied",
	"limitrange-cpu", "resourcequota-pods", "image-missing", "node-cordoned", "leftover-hello", "leftover-gpu-pod",
	"jobset-never-restarts", "kueue-goes-away", "localqueue-on-hold", "namespace-restricted", "node-tainted", "quota-held",
	"resourcequota-used-up",
}

func TestEveryPromisedFaultIsInTheCatalogue(t *testing.T) {
	t.Parallel()
	if _, err := Catalogue(nil); err != nil {
		t.Fatal(err)
	}
	chosen, err := Catalogue(promised)
	if err != nil {
		t.Fatal(err)
	}
	for i, fault := range chosen {
		if fault.Name != promised[i] {
			t.Errorf("fault %d is %s and not %s: the order is not that of the names", i, fault.Name, promised[i])
		}
	}
}

func TestAnUnknownFaultIsAnErrorThatListsAll(t *testing.T) {
	t.Parallel()
	_, err := Catalogue([]string{"quota-3"})
	if err == nil || !strings.Contains(err.Error(), `no fault "quota-3"`) || !strings.Contains(err.Error(), "quota-5") {
		t.Errorf("the error is %v", err)
	}
}

const rightFault = `
title: t
why: w
break:
- scale: {apiVersion: apps/v1, kind: Deployment, namespace: jobset-system, name: manager, replicas: 0}
step: hello
caught: {by: environment check, code: Gone}
`

func TestASlipInAFaultIsReported(t *testing.T) {
	t.Parallel()
	if _, err := parse("right", []byte(rightFault)); err != nil {
		t.Fatal(err)
	}
	for _, slip := range []struct{ from, to, says string }{
		{"why: w", "", "why is missing"},
		{"title: t", "titel: t", "titel"},
		{"step: hello", "", "step is missing"},
		{"code: Gone", "code: ''", "caught.code is missing"},
		{"code: Gone", "words: [gone]", "words"},
		{"code: Gone", "code: Gone, cause: DNSUnanswered", "caught.cause is what blocks a step"},
		{"by: environment check", "by: environmnet check", `caught.by is "environmnet check"`},
		{"replicas: 0", "replica: 0", "replica"},
		{", replicas: 0", "", "break[0] scales to no number"},
		{"kind: Deployment", "kind: ''", "break[0] names an object without apiVersion or kind"},
		{"break:", "during:", ""},
		{"- scale: {apiVersion: apps/v1, kind: Deployment, namespace: jobset-system, name: manager, replicas: 0}", "", "it breaks nothing"},
		{"- scale: {", "- node: {do: 'true'}\n  scale: {", "break[0] has 2 actions"},
		{"- scale: {", "- {}\n- scale: {", "break[0] has 0 actions"},
		{"- scale: {", "- node: {undo: 'true'}\n- scale: {", "break[0] does nothing on the node"},
		{"- scale: {", "- node: {do: 'true', prove: 'true'}\n- scale: {", "break[0] proves on the node what it does not undo"},
		{"- scale: {", "- delete: {apiVersion: v1, kind: Secret, name: s}\n- scale: {", "break[0] changes a Secret"},
		{"- scale: {", "- await: {apiVersion: v1, kind: Node, path: '{.x}'}\n- scale: {", "break[0] awaits a path and one of is, has, lacks"},
		{"- scale: {", "- patch: {apiVersion: v1, kind: Node}\n- scale: {", "break[0] patches by merge or by json"},
		{"- scale: {", "- apply: {apiVersion: v1, kind: Pod, metadata: {}}\n- scale: {", "break[0] applies an object without a kind or a name"},
	} {
		_, err := parse("slip", []byte(strings.Replace(rightFault, slip.from, slip.to, 1)))
		switch {
		case slip.says == "" && err != nil:
			t.Errorf("%q for %q is refused: %v", slip.to, slip.from, err)
		case slip.says != "" && (err == nil || !strings.Contains(err.Error(), slip.says) || !strings.Contains(err.Error(), "faults/slip.yaml")):
			t.Errorf("%q for %q gave %v; it should say %q", slip.to, slip.from, err, slip.says)
		}
	}
}

func TestWhatIsAwaited(t *testing.T) {
	t.Parallel()
	node := object("v1", "Node", "", "lab")
	node.Object["status"] = map[string]any{"allocatable": map[string]any{"nvidia.com/gpu": "4"}, "images": []any{
		map[string]any{"names": []any{"a:1"}}, map[string]any{"names": []any{"b:2", "b:3"}}}}
	for path, wanted := range map[string]string{
		`{.status.allocatable.nvidia\.com/gpu}`: "4",
		"{.status.images[*].names[*]}":          "a:1 b:2 b:3",
		"{.status.phase}":                       "",
	} {
		if reads, err := evaluate(path, node); err != nil || reads != wanted {
			t.Errorf("%s reads %q, %v; it should read %q", path, reads, err, wanted)
		}
	}
	if _, err := evaluate("{.status", node); err == nil {
		t.Error("half a template is taken")
	}
	zero := "0"
	for _, a := range []struct {
		await Await
		met   []string
		not   []string
	}{
		{Await{Is: &zero}, []string{"0"}, []string{"", "10"}},
		{Await{Has: "b:2"}, []string{"a:1 b:2"}, []string{"", "b:3"}},
		{Await{Lacks: "b:2"}, []string{"", "b:3"}, []string{"a:1 b:2"}},
	} {
		for _, reads := range a.met {
			if !a.await.met(reads) {
				t.Errorf("%q does not %s", reads, a.await.wanted())
			}
		}
		for _, reads := range a.not {
			if a.await.met(reads) {
				t.Errorf("%q is taken to %s", reads, a.await.wanted())
			}
		}
	}
}

// A fault names codes that something reports: a slip in one would fail only in a lab.
func TestTheCodesOfTheFaultsExist(t *testing.T) {
	t.Parallel()
	declared := func(pattern string, paths ...string) (codes []string) {
		t.Helper()
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(content), -1) {
				codes = append(codes, match[1])
			}
		}
		return codes
	}
	const name, value = `(?m)^\t(\w+) +snapshot\.Code =`, `snapshot\.Code += "(\w+)"`
	findings := declared(name, "../internal/preflight/codes.go")
	failures := declared(value, "../matchers/codes.go", "../internal/report/failure.go")
	causes := declared(value, "../internal/blockers/blockers.go")
	all, err := Catalogue(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range all {
		codes := failures
		if !strings.HasPrefix(fault.Caught.By, "step ") {
			codes = findings
		}
		if !slices.Contains(codes, string(fault.Caught.Code)) {
			t.Errorf("%s: %s reports no code %s", fault.Name, fault.Caught.By, fault.Caught.Code)
		}
		if fault.Caught.Cause != "" && !slices.Contains(causes, string(fault.Caught.Cause)) {
			t.Errorf("%s: no blocker has the code %s", fault.Name, fault.Caught.Cause)
		}
	}
}
