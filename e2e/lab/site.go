package lab

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// A Site is what the cluster is, before any step: the facts that the preflight
// judges. Reading it changes nothing.
type Site struct {
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
	// Machine is the one that this program runs on; see nodeNamed.
	Machine Machine
	// Kubelet is the one node's, nil if there is not one node.
	Kubelet *Kubelet
	// Image is what the steps run, fully qualified.
	Image string

	JobSet, Kueue Manager
	HasNamespace  bool
	LocalQueue    *kueuev1.LocalQueue   // nil if there is none
	ClusterQueue  *kueuev1.ClusterQueue // nil if there is none

	Obstacles Obstacles

	// JobSetWebhook and KueueWebhook are why a dry run was not answered well.
	JobSetWebhook, KueueWebhook error
	JobSetTrust, KueueTrust     Trust

	// Strangers are JobSets in the namespace that this suite did not apply.
	Strangers []string
	// going is what is deleted before the first step, and so in nobody's way.
	going going
	// Holders are other pods that hold GPUs: namespace/name to how many.
	Holders map[string]int64
	// StrangeFiles are files in the work directory where the steps write theirs.
	StrangeFiles []string
	// Fresh tells that the run may take both away: what is --fresh.
	Fresh bool

	// Unread are the parts that could not be read, and why.
	Unread []error
}

// Versions are what the site runs.
func (s *Site) Versions() Versions {
	return Versions{Kubernetes: s.Kubernetes, JobSet: s.JobSet.Version, Kueue: s.Kueue.Version}
}

// Survey reads the site. It never fails: what cannot be read is a finding too. All
// of it takes no longer than SoonEnough, whatever the cluster does not answer.
func (w *World) Survey(ctx context.Context) *Site {
	ctx, cancel := context.WithTimeout(ctx, SoonEnough)
	defer cancel()
	site := &Site{Server: w.config.Host, Kubeconfig: w.Settings.Kubeconfig, Holders: map[string]int64{},
		Machine: thisMachine(), Image: w.image(), Fresh: w.Settings.Fresh}
	if site.Kubernetes, site.Unreachable = w.answers(ctx); site.Unreachable != nil {
		return site
	}
	read := site.reader(ctx)
	read("the nodes", func(ctx context.Context) error {
		var nodes corev1.NodeList
		err := w.client.List(ctx, &nodes)
		if site.Nodes = nodes.Items; len(site.Nodes) == 1 {
			site.Kubelet = w.askKubelet(ctx, site.Nodes[0].Name)
		}
		return err
	})
	read("the Deployments", func(ctx context.Context) error {
		var deployments appsv1.DeploymentList
		err := w.client.List(ctx, &deployments)
		site.JobSet, site.Kueue = findManager(deployments.Items, "jobset"), findManager(deployments.Items, "kueue")
		return err
	})
	if site.JobSet.Deployment != "" {
		site.JobSetTrust = w.surveyTrust(ctx, site.JobSet)
	}
	if site.Kueue.Deployment != "" && site.Unreachable == nil {
		site.KueueTrust = w.surveyTrust(ctx, site.Kueue)
	}
	read("the namespace", func(ctx context.Context) error {
		err := w.client.Get(ctx, client.ObjectKey{Name: w.Pins.Namespace}, &corev1.Namespace{})
		site.HasNamespace = err == nil
		return client.IgnoreNotFound(err)
	})
	read("the LocalQueue", func(ctx context.Context) (err error) {
		site.LocalQueue, err = found(ctx, w.client, w.Pins.Namespace, w.Pins.LocalQueue, &kueuev1.LocalQueue{})
		return err
	})
	read("the ClusterQueue", func(ctx context.Context) (err error) {
		site.ClusterQueue, err = found(ctx, w.client, "", w.Pins.ClusterQueue, &kueuev1.ClusterQueue{})
		return err
	})
	read("the JobSets and pods", func(ctx context.Context) error { return w.surveyOccupants(ctx, site) })
	read("the journal of faults", func(ctx context.Context) (err error) {
		site.Fault, err = w.leftFault(ctx)
		return err
	})
	read("the work directory", func(context.Context) (err error) {
		site.StrangeFiles, err = w.ledger().strangers(w.stepFiles())
		return err
	})
	if site.Unreachable != nil {
		return site
	}
	if site.HasNamespace {
		site.JobSetWebhook = w.dryRunJobSet(ctx)
	}
	site.KueueWebhook = w.dryRunFlavor(ctx)
	w.surveyObstacles(ctx, site)
	return site
}

// reader returns what a part of the site is read with. What a part could not be read
// for is kept in the site.
func (s *Site) reader(ctx context.Context) func(what string, look func(context.Context) error) {
	return func(what string, look func(context.Context) error) {
		// An API server that leaves one question unanswered leaves the others too: to
		// ask them all would take minutes.
		if s.Unreachable != nil {
			return
		}
		within, cancel := brief(ctx)
		defer cancel()
		err := look(within)
		var silent *silence
		switch {
		case err == nil:
		case errors.As(err, &silent):
			s.Unreachable = silent
		case errors.Is(err, context.DeadlineExceeded) && within.Err() != nil:
			s.Unreachable = &silence{question: "for " + what, cause: err}
		default:
			s.Unread = append(s.Unread, fmt.Errorf("%s: %w", what, err))
		}
	}
}

// surveyOccupants finds who is in the namespace and who holds GPUs, beside what goes.
func (w *World) surveyOccupants(ctx context.Context, site *Site) error {
	goes, strangers, err := w.surveyGoing(ctx)
	site.Strangers = strangers
	if err != nil {
		return err
	}
	site.going = goes
	var pods corev1.PodList
	if err := w.client.List(ctx, &pods); err != nil {
		return err
	}
	gpu := gpuResource(site.ClusterQueue, w.Pins)
	for _, pod := range pods.Items {
		ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
		if held := gpusOf(pod.Spec, gpu); held > 0 && !goes.made(&pod) && !ended && pod.Spec.NodeName != "" {
			site.Holders[pod.Namespace+"/"+pod.Name] = held
		}
	}
	return nil
}

// dryRunJobSet asks for a JobSet of step 1 without making one: it goes through
// the webhooks of JobSet and of Kueue as a real one does.
func (w *World) dryRunJobSet(ctx context.Context) error {
	_, err := w.dryRun(ctx, "steps/hello.yaml")
	return err
}

// dryRun returns what the API server would make of a fixture, under a name that
// nobody has.
func (w *World) dryRun(ctx context.Context, fixture string) (*unstructured.Unstructured, error) {
	content, err := w.fixture(fixture)
	if err != nil {
		return nil, err
	}
	asked := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &asked.Object); err != nil {
		return nil, err
	}
	asked.SetName("")
	asked.SetGenerateName("preflight-")
	ctx, cancel := brief(ctx)
	defer cancel()
	return asked, w.client.Create(ctx, asked, client.DryRunAll)
}

func (w *World) dryRunFlavor(ctx context.Context) error {
	ctx, cancel := brief(ctx)
	defer cancel()
	flavor := &kueuev1.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{GenerateName: "preflight-"}}
	return w.client.Create(ctx, flavor, client.DryRunAll)
}

// found reads one object; one that is not there is nil and no error.
func found[T client.Object](ctx context.Context, reader client.Client, namespace, name string, object T) (T, error) {
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object)
	if err == nil {
		return object, nil
	}
	var none T
	if apierrors.IsNotFound(err) {
		return none, nil
	}
	return none, err
}
