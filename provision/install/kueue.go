package install

import (
	"context"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/poll"
)

var kueueManager = manager{
	name:       "Kueue",
	namespace:  "kueue-system",
	deployment: "kueue-controller-manager",
	service:    "kueue-webhook-service",
	secret:     "kueue-webhook-server-cert",
	authority:  "kueue-ca",
}

// kueueWebhooks is the configuration by which Kueue can refuse pods.
const kueueWebhooks = "kueue-mutating-webhook-configuration"

// Kueue installs Kueue and waits until its webhooks answer for queues, JobSets, Jobs
// and pods. It may run in parallel with JobSet.
func Kueue(ctx context.Context, c *Cluster, set images.Set) (string, error) {
	pins := c.pins
	objects, err := readManifest(set.KueueManifest)
	if err != nil {
		return "", err
	}
	if err := c.prepare(ctx, kueueManager, objects); err != nil {
		return "", err
	}
	if err := c.EnsureNamespace(ctx, pins.Namespace); err != nil {
		return "", err
	}
	if err := c.jobSetHasPod(ctx); err != nil {
		return "", err
	}
	err = c.start(ctx, kueueManager, objects,
		&kueuev1beta2.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: probeName}},
		probePod(pins.Namespace), probeJob(pins.Namespace), probeJobSet(pins.Namespace))
	if err != nil {
		return "", err
	}
	return set.Kueue + ", webhook answers", nil
}

// jobSetHasPod waits until the JobSet manager's pod exists. Kueue's webhooks cover
// pods outside its own namespace and kube-system and refuse all of them until Kueue is
// up, so they must be installed after that pod. If they are installed already, there
// is nothing to wait for.
func (c *Cluster) jobSetHasPod(ctx context.Context) error {
	return poll.For(ctx, "the JobSet manager's pod to exist", func(ctx context.Context) error {
		err := c.Get(ctx, client.ObjectKey{Name: kueueWebhooks}, &admissionregistrationv1.MutatingWebhookConfiguration{})
		if !apierrors.IsNotFound(err) {
			return err
		}
		pods := &corev1.PodList{}
		if err := c.List(ctx, pods, client.InNamespace(jobSetManager.namespace)); err != nil {
			return err
		}
		if len(pods.Items) == 0 {
			return poll.Pending("no pod in " + jobSetManager.namespace)
		}
		return nil
	})
}

// EnsureNamespace creates a namespace if there is none and waits until it can take
// pods: it is not being deleted and has its default ServiceAccount.
func (c *Cluster) EnsureNamespace(ctx context.Context, name string) error {
	return poll.For(ctx, "namespace "+name, func(ctx context.Context) error {
		namespace := &corev1.Namespace{}
		switch err := c.Get(ctx, client.ObjectKey{Name: name}, namespace); {
		case apierrors.IsNotFound(err):
			namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
			if err := c.Create(ctx, namespace, client.FieldOwner(fieldManager)); err != nil {
				return err
			}
		case err != nil:
			return err
		case namespace.DeletionTimestamp != nil:
			return poll.Pending("it is being deleted")
		}
		err := c.Get(ctx, client.ObjectKey{Namespace: name, Name: "default"}, &corev1.ServiceAccount{})
		if apierrors.IsNotFound(err) {
			return poll.Pending("it has no ServiceAccount default yet")
		}
		return err
	})
}
