package preflight

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/fixtures"
)

// leftFault names the fault that a run of faults has made and not restored, by its
// journal in the cluster. The runs that such a run starts itself find it too, and
// are there to find the fault itself.
func leftFault(ctx context.Context, w *cluster.Cluster) (string, error) {
	journal, err := cluster.Found(ctx, w.API, metav1.NamespaceSystem, fixtures.FaultJournal, &corev1.ConfigMap{})
	if err != nil || journal == nil || journal.Annotations[fixtures.RunAnnotation] == w.Settings.Run {
		return "", err
	}
	if name := journal.Data["fault"]; name != "" {
		return name, nil
	}
	// Whoever wrote it, what it lists is what there is to be restored.
	return text.Or(strings.Join(slices.Sorted(maps.Keys(journal.Data)), ", "), "of no name"), nil
}

func faultLeft(facts *Facts) Finding {
	return Finding{Check: "faults", Code: FaultLeft, Message: fmt.Sprintf("the fault %s was made in this cluster and not restored (ConfigMap %s/%s lists what it changed)",
		facts.Fault, metav1.NamespaceSystem, fixtures.FaultJournal),
		Fix: "make faults RESTORE=1, or lab-e2e faults --restore --kubeconfig " + facts.Kubeconfig}
}
