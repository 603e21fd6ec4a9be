package evidence

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const planted = "PLANTED-abcdefghijklmnopqrstuvwxyz"

func TestTheEvidenceHoldsNoSecret(t *testing.T) {
	t.Parallel()
	env := []corev1.EnvVar{{Name: "ANY_NAME", Value: planted}}
	pods := &corev1.PodList{Items: []corev1.Pod{{
		ObjectMeta: metav1.ObjectMeta{Name: "somebodys", Namespace: "shop", Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": planted}},
		Spec: corev1.PodSpec{
			InitContainers:      []corev1.Container{{Name: "first", Env: env}},
			Containers:          []corev1.Container{{Name: "web", Image: "shop:1", Env: env, Args: []string{"--token=" + planted}}},
			EphemeralContainers: []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debug", Env: env}}},
		}}}}
	withoutEnvironment(pods)
	content, err := yaml.Marshal(pods)
	if err != nil {
		t.Fatal(err)
	}
	e := evidence{directory: t.TempDir()}
	e.write("pods-everywhere.yaml", content)
	e.write("pods/log.log", []byte("Authorization: Bearer "+planted+"\nusers: [{user: {client-key-data: "+planted+", token: "+planted+"}}]\n"))
	for _, name := range []string{"pods-everywhere.yaml", "pods/log.log"} {
		written, err := os.ReadFile(filepath.Join(e.directory, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(written), planted) {
			t.Errorf("%s:\n%s", name, written)
		}
		if name == "pods-everywhere.yaml" && !strings.Contains(string(written), "shop:1") {
			t.Errorf("of the pods too little is left:\n%s", written)
		}
	}
}
