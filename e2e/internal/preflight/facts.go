package preflight

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Facts are what the environment check judges: the state of the cluster before any
// step. Collecting them changes nothing.
type Facts struct {
	Server     string // the API server's URL
	Kubeconfig string
	Kubernetes string // the API server's version
	// Unreachable is why nobody answered; all below is then unknown.
	Unreachable error
	// Occupied is another run that is on the lab, if there is one. Unheld is why this
	// run could not keep others off it.
	Occupied, Unheld error
	// Fault names a fault that was made and not restored; empty if there is none.
	Fault string

	Nodes []corev1.Node
	// Host is the machine that this program runs on; see nodeNamed.
	Host Host
	// Kubelet is the one node's, nil if there is not one node.
	Kubelet *cluster.Kubelet
	// Image is what the steps run, fully qualified.
	Image string

	JobSet, Kueue cluster.Manager
	HasNamespace  bool
	// NamespaceLabels are its labels, by which queues, webhooks and policies choose.
	NamespaceLabels map[string]string
	// Terminating is why namespace ml, which is being deleted, is still there; empty if
	// it is not being deleted.
	Terminating  string
	LocalQueue   *kueuev1.LocalQueue   // nil if there is none
	ClusterQueue *kueuev1.ClusterQueue // nil if there is none

	Interference Interference

	// JobSetWebhook and KueueWebhook are why a dry run was not answered well.
	JobSetWebhook, KueueWebhook           error
	JobSetCertificates, KueueCertificates WebhookCertificates

	// UnmanagedJobSets are JobSets in the namespace that this suite did not apply.
	UnmanagedJobSets []string
	// going is what is deleted before the first step, and so interferes with nothing.
	going ownership.Going
	// GPUHolders are other pods that hold GPUs: namespace/name to how many.
	GPUHolders map[string]int64
	// UnmanagedFiles are files of others in the work directory, where the steps write theirs.
	UnmanagedFiles []string
	// Fresh reports that the run may remove both (--fresh).
	Fresh bool

	// Unread are the parts that could not be read, and why.
	Unread []error
}

// Versions are those that the cluster runs.
func (s *Facts) Versions() Versions {
	return Versions{Kubernetes: s.Kubernetes, JobSet: s.JobSet.Version, Kueue: s.Kueue.Version}
}

// Collect reads the facts. It never fails: what cannot be read is a finding too. All
// of it takes no longer than cluster.SoonEnough, whatever the cluster does not answer.
func Collect(ctx context.Context, w *cluster.Cluster) *Facts {
	ctx, cancel := context.WithTimeout(ctx, cluster.SoonEnough)
	defer cancel()
	facts := &Facts{Server: w.Config.Host, Kubeconfig: w.Settings.Kubeconfig, GPUHolders: map[string]int64{},
		Host: thisHost(), Image: w.Image(), Fresh: w.Settings.Fresh}
	if facts.Kubernetes, facts.Unreachable = w.Version(ctx); facts.Unreachable != nil {
		return facts
	}
	read := facts.reader(ctx)
	read("the nodes", func(ctx context.Context) error {
		var nodes corev1.NodeList
		err := w.API.List(ctx, &nodes)
		if facts.Nodes = nodes.Items; len(facts.Nodes) == 1 {
			facts.Kubelet = cluster.AskKubelet(ctx, w, facts.Nodes[0].Name)
		}
		return err
	})
	read("the Deployments", func(ctx context.Context) error {
		var deployments appsv1.DeploymentList
		err := w.API.List(ctx, &deployments)
		facts.JobSet, facts.Kueue = cluster.FindManager(deployments.Items, "jobset"), cluster.FindManager(deployments.Items, "kueue")
		return err
	})
	if facts.Unreachable == nil {
		collectCertificates(ctx, w, facts)
	}
	read("the namespace", func(ctx context.Context) error {
		var namespace corev1.Namespace
		err := w.API.Get(ctx, client.ObjectKey{Name: w.Pins.Namespace}, &namespace)
		facts.HasNamespace, facts.Terminating, facts.NamespaceLabels = err == nil, terminating(&namespace), namespace.Labels
		return client.IgnoreNotFound(err)
	})
	read("the LocalQueue", func(ctx context.Context) (err error) {
		facts.LocalQueue, err = cluster.Found(ctx, w.API, w.Pins.Namespace, w.Pins.LocalQueue, &kueuev1.LocalQueue{})
		return err
	})
	read("the ClusterQueue", func(ctx context.Context) (err error) {
		facts.ClusterQueue, err = cluster.Found(ctx, w.API, "", w.Pins.ClusterQueue, &kueuev1.ClusterQueue{})
		return err
	})
	read("the JobSets and pods", func(ctx context.Context) error { return collectOccupants(ctx, w, facts) })
	read("the journal of faults", func(ctx context.Context) (err error) {
		facts.Fault, err = leftFault(ctx, w)
		return err
	})
	read("the work directory", func(context.Context) (err error) {
		facts.UnmanagedFiles, err = ownership.FileRecordOf(w).Unmanaged(ownership.StepFiles(w))
		return err
	})
	if facts.Unreachable != nil {
		return facts
	}
	if facts.HasNamespace && facts.Terminating == "" {
		tried := admission.Try(ctx, w)
		o := &facts.Interference
		o.Parts, o.Unqueued, o.Queued, facts.JobSetWebhook = tried.Parts, tried.Unqueued, tried.Queued, tried.Err
	}
	facts.KueueWebhook = dryRunFlavor(ctx, w)
	collectInterference(ctx, w, facts)
	return facts
}

// reader returns a function that reads a part of the facts, and keeps why a part
// could not be read.
func (s *Facts) reader(ctx context.Context) func(what string, look func(context.Context) error) {
	return func(what string, look func(context.Context) error) {
		// An API server that leaves one question unanswered leaves the others too: to
		// ask them all would take minutes.
		if s.Unreachable != nil {
			return
		}
		within, cancel := cluster.Brief(ctx)
		defer cancel()
		err := look(within)
		var silent *cluster.Silence
		switch {
		case err == nil:
		case errors.As(err, &silent):
			s.Unreachable = silent
		case errors.Is(err, context.DeadlineExceeded) && within.Err() != nil:
			s.Unreachable = &cluster.Silence{Question: "for " + what, Cause: err}
		default:
			s.Unread = append(s.Unread, fmt.Errorf("%s: %w", what, err))
		}
	}
}

// collectOccupants finds who is in the namespace and who holds GPUs, beside what is
// deleted before the first step.
func collectOccupants(ctx context.Context, w *cluster.Cluster, facts *Facts) error {
	going, unmanaged, err := ownership.SurveyGoing(ctx, w)
	facts.UnmanagedJobSets = unmanaged
	if err != nil {
		return err
	}
	facts.going = going
	var pods corev1.PodList
	if err := w.API.List(ctx, &pods); err != nil {
		return err
	}
	gpu := snapshot.GpuResource(facts.ClusterQueue, w.Pins)
	for _, pod := range pods.Items {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if held := snapshot.GpusOf(pod.Spec, gpu); held > 0 && !going.Made(&pod) && !ended && pod.Spec.NodeName != "" {
			facts.GPUHolders[pod.Namespace+"/"+pod.Name] = held
		}
	}
	return nil
}

func dryRunFlavor(ctx context.Context, w *cluster.Cluster) error {
	return admission.TryCreate(ctx, w, &kueuev1.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{GenerateName: "preflight-"}})
}
