package admission

import (
	"slices"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var read map[string]any
	if err := yaml.Unmarshal([]byte(text), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

func TestOnlyWhatWasAskedForCanBeRewritten(t *testing.T) {
	t.Parallel()
	const asked = `
metadata: {generateName: preflight-, labels: {app: a}}
spec:
  maxRestarts: 2
  containers:
  - {name: main, image: busybox, command: [sleep, "9"], resources: {limits: {nvidia.com/gpu: 1}}}
  tolerations: [{key: a}]
`
	for name, c := range map[string]struct {
		back string
		want []string
	}{
		"as it was": {asked, nil},
		"a sidecar, a mirror, a default": {`
metadata: {generateName: preflight-, name: preflight-x1, labels: {app: a, team: b}, uid: u}
spec:
  maxRestarts: 2
  restartPolicy: Always
  containers:
  - {name: proxy, image: envoy}
  - {name: main, image: mirror/busybox, imagePullPolicy: Always, command: [wrap, sleep, "9"], resources: {limits: {nvidia.com/gpu: "1", cpu: 1}}}
  tolerations: [{key: a, operator: Exists}]
`, nil},
		"GPUs gone, a label changed, another number": {`
metadata: {generateName: preflight-, labels: {app: other}}
spec:
  maxRestarts: 0
  containers: [{name: main, image: busybox, command: [sleep, "9"]}]
  tolerations: []
`, []string{"metadata.labels.app is other and not a", "spec.containers[0].resources.limits.nvidia.com/gpu is gone and was 1", "spec.maxRestarts is 0 and not 2", "spec.tolerations[0].key is gone and was a"}},
	} {
		if got := Rewritten(object(t, asked), object(t, c.back)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, not %q", name, got, c.want)
		}
	}
}

func TestAWebhookIsAskedOfWhatItsRulesAndSelectorTake(t *testing.T) {
	t.Parallel()
	rule := func(group, resource string, scope *admissionv1.ScopeType) []admissionv1.RuleWithOperations {
		return []admissionv1.RuleWithOperations{{Rule: admissionv1.Rule{APIGroups: []string{group}, Resources: []string{resource}, Scope: scope}}}
	}
	ml := map[string]string{"kubernetes.io/metadata.name": "ml"}
	for name, c := range map[string]struct {
		hook Webhook
		want string
	}{
		"pods":                {Webhook{Rules: rule("", "pods", nil)}, "pods"},
		"everything":          {Webhook{Rules: rule("*", "*", nil)}, "jobs.batch"},
		"jobs and their like": {Webhook{Rules: rule("batch", "jobs/*", nil)}, "jobs.batch"},
		"pods' logs":          {Webhook{Rules: rule("", "pods/log", nil)}, ""},
		"jobs of no group":    {Webhook{Rules: rule("", "jobs", nil)}, ""},
		"of the cluster":      {Webhook{Rules: rule("*", "*", ptr.To(admissionv1.ClusterScope))}, ""},
		"of this namespace":   {Webhook{Rules: rule("", "pods", nil), Namespaces: &metav1.LabelSelector{MatchLabels: ml}}, "pods"},
		"of all namespaces":   {Webhook{Rules: rule("", "pods", nil), Namespaces: &metav1.LabelSelector{}}, "pods"},
		"of another one":      {Webhook{Rules: rule("", "pods", nil), Namespaces: &metav1.LabelSelector{MatchLabels: map[string]string{"team": "x"}}}, ""},
	} {
		if got := c.hook.Asked(ml, "jobs.batch", "pods"); got != c.want {
			t.Errorf("%s: asked of %q, not %q", name, got, c.want)
		}
	}
}
