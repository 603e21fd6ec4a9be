package source

import (
	"bytes"
	"errors"
	"io/fs"
	"os/exec"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"gsb.test/jobset-e2e/provision/manifest"
)

// moduleDir is where the module cache holds a module that this one requires.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil || len(bytes.TrimSpace(dir)) == 0 {
		t.Fatalf("no folder for %s (go mod download %s): %v", module, module, err)
	}
	return string(bytes.TrimSpace(dir))
}

func decode(t *testing.T, content []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifest.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// one returns the only object of a kind.
func one(t *testing.T, objects []*unstructured.Unstructured, kind string, into any) {
	t.Helper()
	var found []*unstructured.Unstructured
	for _, object := range objects {
		if object.GetKind() == kind {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s, want one", len(found), kind)
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(found[0].Object, into); err != nil {
		t.Fatal(err)
	}
}

func TestRenderedManifestsAreThePinnedOnesMadeToFit(t *testing.T) {
	for _, test := range []struct {
		module, namespace string
		render            func(string, string) ([]byte, error)
		kinds             map[string]int
		config            []string // what the shipped configuration says
	}{
		{
			"sigs.k8s.io/jobset", "jobset-system", RenderJobSet,
			map[string]int{"CustomResourceDefinition": 1, "MutatingWebhookConfiguration": 1, "ValidatingWebhookConfiguration": 1, "Secret": 1, "Namespace": 1},
			[]string{"leaderElect: false", "internalCertManagement:\n  enable: true"},
		},
		{
			"sigs.k8s.io/kueue", "kueue-system", RenderKueue,
			map[string]int{"CustomResourceDefinition": 11, "MutatingWebhookConfiguration": 1, "ValidatingWebhookConfiguration": 1, "Secret": 1, "Namespace": 1, "APIService": 2},
			[]string{"leaderElect: false", "\n  - \"jobset.x-k8s.io/jobset\"\n", "\n  - \"pod\"\n", "\n  - \"batch/job\"\n"},
		},
	} {
		t.Run(test.module, func(t *testing.T) {
			const image = "example.test/manager:v9.9.9"
			manifest, err := test.render(moduleDir(t, test.module), image)
			if err != nil {
				t.Fatal(err)
			}
			for _, elsewhere := range []string{"k8s-staging-images", "pkg.dev", "registry.k8s.io", "controller:latest", ":main"} {
				if at := bytes.Index(manifest, []byte(elsewhere)); at >= 0 {
					t.Errorf("the manifest still names %q: …%s…", elsewhere, manifest[max(0, at-80):min(len(manifest), at+80)])
				}
			}
			objects := decode(t, manifest)
			count := map[string]int{}
			for _, object := range objects {
				count[object.GetKind()]++
			}
			for kind, want := range test.kinds {
				if count[kind] != want {
					t.Errorf("%d × %s, want %d", count[kind], kind, want)
				}
			}
			var config corev1.ConfigMap
			one(t, objects, "ConfigMap", &config)
			for _, says := range test.config {
				if !strings.Contains(config.Data["controller_manager_config.yaml"], says) {
					t.Errorf("the configuration has lost %q:\n%s", says, config.Data["controller_manager_config.yaml"])
				}
			}
			var deployment appsv1.Deployment
			one(t, objects, "Deployment", &deployment)
			if deployment.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
				t.Errorf("without an election, two managers would work in parallel during an update: %+v", deployment.Spec.Strategy)
			}
			if deployment.Namespace != test.namespace {
				t.Errorf("the Deployment is in %s, want %s", deployment.Namespace, test.namespace)
			}
			if n := len(deployment.Spec.Template.Spec.Containers); n != 1 {
				t.Fatalf("%d containers, want one", n)
			}
			container := deployment.Spec.Template.Spec.Containers[0]
			if container.Image != image || container.ImagePullPolicy != corev1.PullIfNotPresent {
				t.Errorf("image %s, pulled %s; want %s, IfNotPresent", container.Image, container.ImagePullPolicy, image)
			}
			if cpu := container.Resources.Requests.Cpu().String(); cpu != "100m" {
				t.Errorf("it asks for %s of CPU, want 100m", cpu)
			}
			if container.Resources.Requests.Memory().IsZero() || container.Resources.Limits.Memory().IsZero() {
				t.Errorf("what it was shipped with is lost: %+v", container.Resources)
			}
			probe := container.ReadinessProbe
			if probe.PeriodSeconds != 1 || probe.InitialDelaySeconds != 0 || probe.FailureThreshold != 30 || probe.HTTPGet.Path != "/readyz" {
				t.Errorf("readiness is probed so: %+v", probe)
			}
			if container.LivenessProbe.PeriodSeconds != 20 || container.LivenessProbe.InitialDelaySeconds != 15 {
				t.Errorf("the liveness probe is not as shipped: %+v", container.LivenessProbe)
			}
			if user := deployment.Spec.Template.Spec.SecurityContext; user == nil || user.RunAsNonRoot == nil || !*user.RunAsNonRoot {
				t.Errorf("the pod's security context is not as shipped: %+v", user)
			}
		})
	}
}

func TestAWrongModuleFolderIsReportedAsSuch(t *testing.T) {
	empty := t.TempDir()
	_, err := RenderJobSet(empty, "x")
	if err == nil || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), empty) || !strings.Contains(err.Error(), "go mod download") {
		t.Errorf("an empty folder gave %v", err)
	}
	kueue := moduleDir(t, "sigs.k8s.io/kueue")
	_, err = RenderJobSet(kueue, "x")
	if err == nil || !strings.Contains(err.Error(), "jobset-controller-manager") || !strings.Contains(err.Error(), kueue) {
		t.Errorf("Kueue's folder given for JobSet's gave %v", err)
	}
}

func TestFittingChangesOnlyWhatTheNodeNeeds(t *testing.T) {
	objects := decode(t, []byte(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: any, namespace: some}
spec:
  replicas: 1
  template:
    spec:
      initContainers:
      - {name: first, image: a, imagePullPolicy: Always}
      containers:
      - name: small
        image: b
        resources: {requests: {cpu: 20m}}
      - name: large
        image: c
        imagePullPolicy: Always
        resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: "2"}}
        readinessProbe: {initialDelaySeconds: 5, periodSeconds: 5, failureThreshold: 4, httpGet: {path: /, port: 1}}
---
apiVersion: v1
kind: Service
metadata: {name: any, namespace: some}
spec: {ports: [{port: 1}]}
`))
	service := objects[1].DeepCopy()
	if err := ResizeForSingleNode(objects); err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	one(t, objects, "Deployment", &deployment)
	pod := deployment.Spec.Template.Spec
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		if container.ImagePullPolicy != corev1.PullIfNotPresent {
			t.Errorf("container %s pulls %s", container.Name, container.ImagePullPolicy)
		}
	}
	small, large := pod.Containers[0], pod.Containers[1]
	if small.Resources.Requests.Cpu().String() != "20m" || small.ReadinessProbe != nil {
		t.Errorf("a small container was changed: %+v", small)
	}
	if large.Resources.Requests.Cpu().String() != "100m" || large.Resources.Limits.Cpu().String() != "2" || large.Resources.Requests.Memory().String() != "1Gi" {
		t.Errorf("the large container asks for %+v", large.Resources)
	}
	if probe := large.ReadinessProbe; probe.PeriodSeconds != 1 || probe.InitialDelaySeconds != 0 || probe.FailureThreshold != 20 {
		t.Errorf("the large container is probed so: %+v", probe)
	}
	if _, found, _ := unstructured.NestedMap(objects[0].Object, "status"); found {
		t.Error("fitting added a status")
	}
	if !bytes.Equal(mustJSON(t, service), mustJSON(t, objects[1])) {
		t.Error("fitting changed a Service")
	}
}

func mustJSON(t *testing.T, object *unstructured.Unstructured) []byte {
	t.Helper()
	content, err := object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return content
}
