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

// jobSet promises that JobSet is installed and its webhook answers.
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
	// Kueue's webhooks leave kube-system alone, so that JobSet's answer here
	// whether Kueue is up or not.
	if err := c.start(ctx, jobSetManager, objects, probeJobSet(metav1.NamespaceSystem)); err != nil {
		return "", err
	}
	return set.JobSet + ", webhook answers", nil
}

// reachesAPI waits until the API server answers on its Service's address from
// the node, which is how pods call it. kube-proxy makes that so some seconds
// after the node is Ready. A manager that starts before hangs until its
// liveness probe kills it, 70 seconds later, and until then its packets leave
// the node for wherever the host routes them.
func (c *Cluster) reachesAPI(ctx context.Context) error {
	return poll.For(ctx, "the API server to answer the node on its Service address", func(ctx context.Context) error {
		service := &corev1.Service{}
		key := client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "kubernetes"}
		if err := c.Get(ctx, key, service); err != nil {
			return fmt.Errorf("reading Service %s: %w", key, err)
		}
		address := "https://" + net.JoinHostPort(service.Spec.ClusterIP, "443") + "/readyz"
		// The certificate is checked, lest something outside the node answers.
		// One command tries many times, as starting one in the node is dear.
		said, err := c.Node(ctx, "timeout", "5", "sh", "-c",
			`until curl --fail --silent --show-error --max-time 1 --cacert /etc/kubernetes/pki/ca.crt --output /dev/null "$0"; do sleep 0.1; done`,
			address)
		if err == nil {
			return nil
		}
		lines := strings.Split(strings.TrimSpace(said), "\n")
		return poll.Pendingf("%s does not answer: %s (%v)", address, lines[len(lines)-1], err)
	})
}

// probeJobSet is the smallest JobSet there can be, for a dry run.
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

// probeName is the name of what is only ever created as a dry run.
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
