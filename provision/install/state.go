package install

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1alpha2 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/poll"
)

// AnswerTimeout is how long a lab that was complete once may take to answer.
const AnswerTimeout = time.Minute

// Abandoned is the verdict on a cluster without the mark of completeness. A lab older
// than that mark is known by its JobSets.
func (c *Cluster) Abandoned(ctx context.Context) (verdict string, err error) {
	bounded, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	anybodys, err := c.jobSets(bounded, func(jobsetv1alpha2.JobSet) bool { return true })
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case len(anybodys) > 0:
		return "", nil
	}
	return "its making was not finished", nil //nolint:nilerr // neither was it if it does not answer
}

// Faulty is the verdict on a complete lab with a fault in it that was not removed. No
// step of ours repairs what a fault changed, so the lab is made again; unless it
// contains a learner's work, which is worth more.
func (c *Cluster) Faulty(ctx context.Context, lab string) (verdict string, err error) {
	journal := &corev1.ConfigMap{}
	key := client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: fixtures.FaultJournal}
	bounded, cancel := context.WithTimeout(ctx, AnswerTimeout)
	defer cancel()
	err = poll.For(bounded, "the API server of the lab "+lab+", which was complete before", func(ctx context.Context) error {
		err := c.Get(ctx, key, journal)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("%w\n   the lab is left as it is; to make it again: make down up", err)
	}
	if journal.Name == "" {
		return "", nil
	}
	since := journal.CreationTimestamp.Format(time.DateTime)
	learners, err := c.jobSets(ctx, func(j jobsetv1alpha2.JobSet) bool { return j.Annotations[fixtures.RunAnnotation] == "" })
	if err != nil {
		return "", err
	}
	if len(learners) > 0 {
		return "", fmt.Errorf("a fault was put into the lab %s at %s and not taken out again (ConfigMap %s), and there is work in it: JobSet %s\n"+
			"   to restore the lab: make faults RESTORE=1 LAB_NAME=%s; to make it again, without that work: make down up",
			lab, since, key, strings.Join(learners, ", "), lab)
	}
	return fmt.Sprintf("a fault was put into it at %s and not taken out again", since), nil
}

// jobSets names the selected JobSets in the lab's namespace; none if the kind does not
// exist yet.
func (c *Cluster) jobSets(ctx context.Context, wanted func(jobsetv1alpha2.JobSet) bool) ([]string, error) {
	found := &jobsetv1alpha2.JobSetList{}
	if err := c.List(ctx, found, client.InNamespace(c.pins.Namespace)); err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("listing the JobSets in namespace %s: %w", c.pins.Namespace, err)
	}
	var names []string
	for _, jobSet := range found.Items {
		if wanted(jobSet) {
			names = append(names, jobSet.Name)
		}
	}
	return names, nil
}

// MakeSchedulable removes a cordon and the taints that somebody has set, and returns
// what it removed. It waits for the taints that follow from the node's state.
func (c *Cluster) MakeSchedulable(ctx context.Context) (fixed string, err error) {
	err = poll.For(ctx, "the node to take pods", func(ctx context.Context) error {
		node, err := c.node(ctx)
		if err != nil {
			return err
		}
		opened, taken := schedulable(node)
		if len(taken) > 0 {
			if err := c.Patch(ctx, opened, client.MergeFrom(&node), client.FieldOwner(fieldManager)); err != nil {
				return err
			}
			fixed = strings.Join(taken, ", ")
			return poll.Pendingf("node %s: %s", node.Name, fixed)
		}
		if keeping := taintsOf(node); len(keeping) > 0 {
			return poll.Pendingf("node %s has the taint %s; kubectl --kubeconfig %s describe node says why", node.Name, strings.Join(keeping, ", "), c.kubeconfig)
		}
		return nil
	})
	return fixed, err
}

// stateTaint is the prefix of the taints that Kubernetes itself sets and removes.
const stateTaint = "node.kubernetes.io/"

// schedulable is the node without a cordon and without the taints that somebody has
// set, and what was removed.
func schedulable(node corev1.Node) (opened *corev1.Node, taken []string) {
	opened = node.DeepCopy()
	if node.Spec.Unschedulable {
		opened.Spec.Unschedulable = false
		taken = append(taken, "uncordoned")
	}
	opened.Spec.Taints = slices.DeleteFunc(opened.Spec.Taints, func(taint corev1.Taint) bool {
		set := taint.Effect != corev1.TaintEffectPreferNoSchedule && !strings.HasPrefix(taint.Key, stateTaint)
		if set {
			taken = append(taken, "taint "+taint.ToString()+" removed")
		}
		return set
	})
	return opened, taken
}

// taintsOf are the taints of a node that repel pods.
func taintsOf(node corev1.Node) []string {
	var keeping []string
	for _, taint := range node.Spec.Taints {
		if taint.Effect != corev1.TaintEffectPreferNoSchedule {
			keeping = append(keeping, taint.ToString())
		}
	}
	return keeping
}
