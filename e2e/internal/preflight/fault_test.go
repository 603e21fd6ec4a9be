package preflight

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/fixtures"
)

// inLab is a run's cluster with these objects.
func inLab(t *testing.T, objects ...client.Object) *cluster.Cluster {
	t.Helper()
	return &cluster.Cluster{Pins: labtest.Pinned(t), Settings: settings.Settings{Run: "this", WorkDir: t.TempDir(), Reports: t.TempDir()},
		API: labtest.Client(t, interceptor.Funcs{}, objects...)}
}

func TestAFaultThatWasLeftIsNamedAndNoStepRuns(t *testing.T) {
	t.Parallel()
	journal := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: fixtures.FaultJournal,
		Annotations: map[string]string{fixtures.RunAnnotation: "of-the-faults"}}, Data: map[string]string{"fault": "quota-2"}}
	w := inLab(t, journal)
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	var err error
	if facts.Fault, err = leftFault(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	reported := Blocking(Judge(facts, pins))
	for _, word := range []string{"fault quota-2 was made in this cluster and not restored", "make faults RESTORE=1", "lab-e2e faults --restore"} {
		if !strings.Contains(reported, word) {
			t.Errorf("%q is not in\n%s", word, reported)
		}
	}
	// The run of faults starts runs itself, to find the fault by what it does.
	w.Settings.Run = "of-the-faults"
	if name, err := leftFault(t.Context(), w); err != nil || name != "" {
		t.Errorf("the runs that the faults start are refused by their own fault %q (%v)", name, err)
	}
	if name, err := leftFault(t.Context(), inLab(t)); err != nil || name != "" {
		t.Errorf("a whole lab has the fault %q (%v)", name, err)
	}
}

// make e2e keeps the JobSets because the lab goes, and not because of KEEP=1.
func TestWhatIsLeftInTheLabIsReportedAsItIs(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		settings settings.Settings
		says     string
	}{
		{settings.Settings{Keep: true}, "the run's JobSets, as KEEP=1 asks"},
		{settings.Settings{Keep: true, LabEnds: true}, "the lab itself is removed after the run"},
	} {
		w := &cluster.Cluster{Settings: of.settings}
		if err := ownership.TearDown(t.Context(), w); err != nil || !strings.Contains(w.LeftInLab, of.says) {
			t.Errorf("%q (%v) does not say %q", w.LeftInLab, err, of.says)
		}
	}
}
