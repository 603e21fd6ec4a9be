package install

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/provision/images"
)

// Plain installs JobSet and Kueue as their installation pages say: apply both
// manifests, then wait for both. lab bench compares it with our way.
func Plain(ctx context.Context, c *Cluster, set images.Set) (string, error) {
	jobSetObjects, err := readManifest(set.JobSetManifest)
	if err != nil {
		return "", err
	}
	kueueObjects, err := readManifest(set.KueueManifest)
	if err != nil {
		return "", err
	}
	for _, objects := range []ranked{jobSetObjects, kueueObjects} {
		if err := c.apply(ctx, objects, rankNamespace, rankDefinition, rankPlain, rankWorkload, rankWebhook); err != nil {
			return "", err
		}
	}
	if err := c.EnsureNamespace(ctx, c.pins.Namespace); err != nil {
		return "", err
	}
	if err := c.start(ctx, jobSetManager, jobSetObjects, probeJobSet(metav1.NamespaceSystem)); err != nil {
		return "", err
	}
	return "JobSet and Kueue, both webhooks answer", c.start(ctx, kueueManager, kueueObjects,
		&kueuev1beta2.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: probeName}}, probeJobSet(c.pins.Namespace))
}
