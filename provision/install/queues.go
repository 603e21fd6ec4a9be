package install

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/poll"
)

// labFixture is the namespace and the queues, as a learner gets them.
const labFixture = "lab/lab.yaml"

// Queues installs the queues and waits until the LocalQueue points to its
// ClusterQueue, the ClusterQueue has the lab's quota, and Kueue reports both Active.
func Queues(ctx context.Context, c *Cluster, _ images.Set) (summary string, err error) {
	pins := c.pins
	content, err := fixtures.Read(labFixture)
	if err != nil {
		return "", err
	}
	objects, err := parse(content)
	if err != nil {
		return "", fmt.Errorf("fixtures/%s: %w", labFixture, err)
	}
	if err := c.apply(ctx, objects, rankNamespace, rankPlain); err != nil {
		return "", err
	}
	err = poll.For(ctx, fmt.Sprintf("LocalQueue %s and ClusterQueue %s to be Active", pins.LocalQueue, pins.ClusterQueue),
		func(ctx context.Context) error {
			local, whole := &kueuev1beta2.LocalQueue{}, &kueuev1beta2.ClusterQueue{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: pins.Namespace, Name: pins.LocalQueue}, local); err != nil {
				return err
			}
			if err := c.Get(ctx, client.ObjectKey{Name: pins.ClusterQueue}, whole); err != nil {
				return err
			}
			summary, err = checkQueues(local, whole, corev1.ResourceName(pins.GPUResource), pins.Quota)
			return err
		})
	return summary, err
}

// checkQueues describes the two queues, or says what is wrong with them.
func checkQueues(local *kueuev1beta2.LocalQueue, whole *kueuev1beta2.ClusterQueue, gpu corev1.ResourceName, wanted int64) (string, error) {
	if string(local.Spec.ClusterQueue) != whole.Name {
		return "", fmt.Errorf("LocalQueue %s leads to ClusterQueue %s, not %s", local.Name, local.Spec.ClusterQueue, whole.Name)
	}
	if err := isActive("ClusterQueue "+whole.Name, whole.Generation, whole.Status.Conditions); err != nil {
		return "", err
	}
	if err := isActive("LocalQueue "+local.Name, local.Generation, local.Status.Conditions); err != nil {
		return "", err
	}
	var quota int64
	for _, group := range whole.Spec.ResourceGroups {
		for _, flavor := range group.Flavors {
			for _, resource := range flavor.Resources {
				if resource.Name == gpu {
					quota += resource.NominalQuota.Value()
				}
			}
		}
	}
	if quota != wanted {
		return "", fmt.Errorf("ClusterQueue %s has a quota of %d × %s, the lab has %d (fixtures/lab/versions.yaml)",
			whole.Name, quota, gpu, wanted)
	}
	return fmt.Sprintf("%s → %s, %d × %s, Active", local.Name, whole.Name, quota, gpu), nil
}

// isActive is nil if Kueue reports the present state of a queue as Active.
func isActive(queue string, generation int64, conditions []metav1.Condition) error {
	condition := meta.FindStatusCondition(conditions, kueuev1beta2.ClusterQueueActive)
	switch {
	case condition == nil:
		return poll.Pendingf("%s: Kueue has not looked at it yet", queue)
	case condition.ObservedGeneration < generation:
		return poll.Pendingf("%s: Kueue has not looked at its last change yet", queue)
	case condition.Status != metav1.ConditionTrue:
		return poll.Pendingf("%s is not Active: %s: %s", queue, condition.Reason, condition.Message)
	}
	return nil
}
