package install

import (
	"context"
	"fmt"
	"net"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1alpha2 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/poll"
)

var jobSetManager = manager{
	name:       "JobSet",
	namespace:  "jobset-system",
	deployment: "jobset-controller-manager",
	service:    "jobset-webhook-service",
	secret:     "jobset-webhook-server-cert",
	authority:  "jobset-ca",
}

// JobSet installs JobSet and waits until its webhook answers.
func JobSet(ctx context.Context, c *Cluster, set images.Set) (string, error) {
	objects, err := readManifest(set.JobSetManifest)
	if err != nil {
		return "", err
	}
	if err := c.prepare(ctx, jobSetManager, objects); err != nil {
		return "", err
	}
	if err := c.reachesAPI(ctx); err != nil {
		return "", err
	}
	// Kueue's webhooks ignore kube-system, so this probe tests JobSet whether Kueue is up
	// or not.
	if err := c.start(ctx, jobSetManager, objects, probeJobSet(metav1.NamespaceSystem)); err != nil {
		return "", err
	}
	return set.JobSet + ", webhook answers", nil
}

// reachesAPI waits until the API server answers the node on its Service address, which
// pods use. kube-proxy programs it some seconds after the node is Ready. A manager
// that starts before hangs until its liveness probe kills it 70 seconds later.
func (c *Cluster) reachesAPI(ctx context.Context) error {
	return poll.For(ctx, "the API server to answer the node on its Service address", func(ctx context.Context) error {
		service := &corev1.Service{}
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}
		if err := c.Get(ctx, key, service); err != nil {
			return fmt.Errorf("reading Service %s: %w", key, err)
		}
		address := "https://" + net.JoinHostPort(service.Spec.ClusterIP, "443") + "/readyz"
		// The certificate is checked, so that nothing outside the node answers. One command
		// tries many times, because starting one in the node is slow.
		output, err := c.Node(ctx, "timeout", "5", "sh", "-c",
			`until curl --fail --silent --show-error --max-time 1 --cacert /etc/kubernetes/pki/ca.crt --output /dev/null "$0"; do sleep 0.1; done`,
			address)
		if err == nil {
			return nil
		}
		lines := strings.Split(strings.TrimSpace(output), "\n")
		return poll.Pendingf("%s does not answer: %s (%v)", address, lines[len(lines)-1], err)
	})
}

// probeJobSet is the smallest JobSet, for a dry run.
func probeJobSet(namespace string) *jobsetv1alpha2.JobSet {
	return &jobsetv1alpha2.JobSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: probeName},
		Spec: jobsetv1alpha2.JobSetSpec{ReplicatedJobs: []jobsetv1alpha2.ReplicatedJob{{
			Name:     "probe",
			Replicas: 1,
			Template: batchv1.JobTemplateSpec{Spec: probeJob(namespace).Spec},
		}}},
	}
}

// probeName is the name of objects that are only created as a dry run.
const probeName = "provision-dry-run"

func probeJob(namespace string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: probeName},
		Spec:       batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: probePod(namespace).Spec}},
	}
}

func probePod(namespace string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: probeName},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "probe", Image: probeName}},
		},
	}
}
