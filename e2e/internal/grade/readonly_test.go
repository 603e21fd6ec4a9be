package grade

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// answering answers each request and counts them.
type answering struct{ sent []string }

func (a *answering) RoundTrip(request *http.Request) (*http.Response, error) {
	a.sent = append(a.sent, request.Method+" "+request.URL.Path)
	return httptest.NewRecorder().Result(), nil
}

func TestOnlyReadingLetsThroughWhatReads(t *testing.T) {
	t.Parallel()
	const pods = "/api/v1/namespaces/ml/pods"
	for _, asked := range []struct {
		method, path, upgrade string
		reads                 bool
	}{
		{"GET", "/version", "", true},
		{"GET", pods, "", true},
		{"GET", pods + "/hello", "", true},
		{"GET", pods + "/hello/log", "", true},
		{"GET", pods + "/proxyless", "", true},
		{"POST", pods, "", false},
		{"PUT", pods + "/hello", "", false},
		{"PATCH", pods + "/hello", "", false},
		{"DELETE", pods + "/hello", "", false},
		{"DELETE", pods, "", false},
		{"OPTIONS", pods, "", false},
		{"POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "", false},
		{"POST", pods + "/hello/exec", "", false},
		{"GET", pods + "/hello/exec", "", false},
		{"GET", pods + "/hello/log", "websocket", false},
		{"GET", pods + "/hello/attach", "", false},
		{"GET", pods + "/hello/portforward", "", false},
		{"GET", pods + "/hello/proxy/shutdown", "", false},
		{"GET", "/api/v1/nodes/lab/proxy/run/ml/hello", "", false},
	} {
		request, err := http.NewRequest(asked.method, "https://lab.test"+asked.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if asked.upgrade != "" {
			request.Header.Set("Upgrade", asked.upgrade)
		}
		next := &answering{}
		_, err = cluster.OnlyReading(next).RoundTrip(request)
		switch {
		case asked.reads && (err != nil || len(next.sent) != 1):
			t.Errorf("%s %s was not let through: %v", asked.method, asked.path, err)
		case !asked.reads && (!errors.Is(err, cluster.ErrOnlyReads) || len(next.sent) != 0):
			t.Errorf("%s %s was let through", asked.method, asked.path)
		}
	}
}

// Every client of a World that was connected to read goes through onlyReading.
func TestAClusterToReadCannotWrite(t *testing.T) {
	t.Parallel()
	api := labtest.NewFakeAPI(t)
	world := connectToRead(api, t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "hello"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}}}}
	ctx := context.Background()
	_, typed := world.Clientset.CoreV1().Pods("ml").Create(ctx, pod, metav1.CreateOptions{})
	_, exec := world.Exec(ctx, pod, "env")
	for what, err := range map[string]error{
		"create":       world.API.Create(ctx, pod.DeepCopy()),
		"a dry run":    world.API.Create(ctx, pod.DeepCopy(), client.DryRunAll),
		"delete":       world.API.Delete(ctx, pod.DeepCopy()),
		"typed create": typed,
		"exec":         exec,
	} {
		if !errors.Is(err, cluster.ErrOnlyReads) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for request := range api.Asked {
		if request.Verb != "get" && request.Verb != "list" && request.Verb != "discover" {
			t.Errorf("the server was asked to %s", request.Verb)
		}
	}
}

func TestSettingsToReadChangeNothing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	kubeconfig := filepath.Join(root, "kubeconfig")
	if err := os.WriteFile(kubeconfig, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	chosen, err := settings.ReadSettingsToRead(func(name string) string {
		return map[string]string{"LAB_KUBECONFIG": kubeconfig}[name]
	}, root)
	if err != nil {
		t.Fatal(err)
	}
	if files, _, err := files.ReadFiles(t.Context(), chosen.WorkDir, []string{"dns.txt"}); err != nil || len(files) != 0 {
		t.Errorf("a work directory that is not there: %v, %v", files, err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) != 1 {
		t.Errorf("beside the kubeconfig there are now: %v, %v", entries, err)
	}
	for _, missing := range []string{"", filepath.Join(root, "none")} {
		if _, err := settings.ReadSettingsToRead(func(string) string { return missing }, root); err == nil {
			t.Errorf("the kubeconfig %q was taken", missing)
		}
	}
}

// Where a platform starts the program, there is no checkout: a check looks where the
// lab text puts a learner's files, as a run does.
func TestACheckByTheProgramAloneLooksWhereALearnerWorks(t *testing.T) {
	t.Parallel()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	given := map[string]string{"LAB_KUBECONFIG": kubeconfig}
	chosen, err := settings.ReadSettingsToRead(labtest.Environment(given), t.TempDir())
	if err != nil || chosen.WorkDir != "/root/gsb-jobset" {
		t.Errorf("without a checkout a check looks in %s (%v)", chosen.WorkDir, err)
	}
	root := labtest.Checkout(t)
	if chosen, err = settings.ReadSettingsToRead(labtest.Environment(given), root); err != nil || chosen.WorkDir != filepath.Join(root, ".lab", "gsb-jobset") {
		t.Errorf("in a checkout a check looks in %s (%v)", chosen.WorkDir, err)
	}
}
