package lab

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func environment(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func kubeconfigFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestWithoutAKubeconfigNothingIsFallenBackTo(t *testing.T) {
	t.Setenv("KUBECONFIG", kubeconfigFile(t))
	_, err := ReadSettings(environment(nil), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "LAB_KUBECONFIG") || !strings.Contains(err.Error(), "make up") {
		t.Errorf("%v: neither the cause nor the mend", err)
	}
}

func TestAKubeconfigThatIsNotThereIsNamed(t *testing.T) {
	_, err := ReadSettings(environment(map[string]string{"LAB_KUBECONFIG": "/nowhere/kubeconfig"}), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "/nowhere/kubeconfig") {
		t.Errorf("%v does not name the file", err)
	}
}

func TestNothingStandsInForAKubeconfigThatNamesNoCluster(t *testing.T) {
	// client-go takes the cluster that the program runs in for such a file's.
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "1")
	for name, content := range map[string]string{
		"empty":      "apiVersion: v1\nkind: Config\n",
		"no context": "apiVersion: v1\nkind: Config\nclusters: [{name: lab, cluster: {server: https://127.0.0.1:2}}]\n",
		"no server":  "apiVersion: v1\nkind: Config\ncurrent-context: lab\ncontexts: [{name: lab, context: {cluster: lab, user: me}}]\n",
		"no YAML":    "{",
	} {
		path := kubeconfigFile(t)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if world, err := Connect(Settings{Kubeconfig: path}); err == nil {
			t.Errorf("%s: connected to %s", name, world.config.Host)
		} else if !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "LAB_KUBECONFIG=") {
			t.Errorf("%s: %v names neither the file nor the mend", name, err)
		}
	}
}

func TestAnImagesNameIsLookedAtBeforeAnyStep(t *testing.T) {
	values := map[string]string{"LAB_KUBECONFIG": kubeconfigFile(t), "LAB_IMAGE": "busybox: 1"}
	if _, err := ReadSettings(environment(values), t.TempDir()); err == nil || !strings.Contains(err.Error(), `LAB_IMAGE is "busybox: 1"`) {
		t.Errorf("%v", err)
	}
	values["LAB_IMAGE"], values["LAB_KEEP"], values["LAB_FRESH"] = "busybox:1", "1", "yes"
	values["FRESH"] = "1" // a VM's environment may hold such a word for other reasons
	if settings, err := ReadSettings(environment(values), checkout(t)); err != nil || settings.Image != "busybox:1" || !settings.Keep || settings.Fresh {
		t.Errorf("%+v, %v", settings, err)
	}
}

func TestTheDirectoriesAreMade(t *testing.T) {
	root := checkout(t)
	settings, err := ReadSettings(environment(map[string]string{"LAB_KUBECONFIG": kubeconfigFile(t)}), root)
	if err != nil {
		t.Fatal(err)
	}
	if settings.WorkDir != filepath.Join(root, ".lab", "gsb-jobset") || settings.Reports != filepath.Join(root, ".lab") {
		t.Errorf("the defaults are %+v", settings)
	}
	entries, err := os.ReadDir(settings.WorkDir)
	if err != nil || len(entries) != 0 {
		t.Errorf("the work directory holds %v (%v) before any step", entries, err)
	}
}

func TestAWorkDirectoryThatCannotBeWrittenIsToldBeforeAnyStep(t *testing.T) {
	// Below a plain file no directory can be made, not even by root.
	blocked := filepath.Join(kubeconfigFile(t), "work")
	_, err := ReadSettings(environment(map[string]string{"LAB_KUBECONFIG": kubeconfigFile(t), "LAB_WORKDIR": blocked}), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), blocked) || !strings.Contains(err.Error(), "LAB_WORKDIR=") {
		t.Errorf("%v: neither the directory nor the mend", err)
	}
}

var eight = Course{Steps: []Step{
	{Number: 1, Name: "hello"}, {Number: 2, Name: "dns", Needs: []int{1}}, {Number: 3, Name: "labels", Needs: []int{2}},
	{Number: 4, Name: "fragile", Title: "하나가 죽으면 전부 다시 시작한다"},
}}

func TestAPlanOfOneStepDoesWhatItNeedsFirst(t *testing.T) {
	for wanted, first := range map[string]int{"1": 0, "dns": 1, "3": 2, "fragile": 0} {
		plan, err := eight.Plan(wanted)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Whole || len(plan.Asked) != 1 || len(plan.First) != first {
			t.Errorf("STEP=%s asks for %d and does %d first, not %d", wanted, len(plan.Asked), len(plan.First), first)
		}
	}
	if plan, err := eight.Plan(""); err != nil || !plan.Whole || len(plan.Asked) != len(eight.Steps) {
		t.Errorf("no STEP is not the whole walk: %+v, %v", plan, err)
	}
}

func TestAStepThatIsNoneListsThemAll(t *testing.T) {
	for _, wanted := range []string{"9", "0", "04", "four", "1,2", "4 "} {
		_, err := eight.Plan(wanted)
		if err == nil || !strings.Contains(err.Error(), "하나가 죽으면 전부 다시 시작한다") || !strings.Contains(err.Error(), "STEP="+wanted) {
			t.Errorf("STEP=%s: %v", wanted, err)
		}
	}
}
