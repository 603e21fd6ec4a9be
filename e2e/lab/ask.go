package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"

	"gsb.test/jobset-e2e/e2e/internal/admission"
	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// What a Learner asks the lab for a Probe. Nothing of it changes the lab.

// AskTable asks for what kubectl get prints of a resource in the lab's namespace.
func (me *Learner) AskTable(ctx context.Context, s *snapshot.Snapshot, resource string) error {
	served, err := me.cluster.API.RESTMapper().ResourceFor(schema.GroupVersionResource{Resource: resource})
	if err != nil {
		return fmt.Errorf("no API serves %s: %w", resource, err)
	}
	body, err := me.cluster.Clientset.CoreV1().RESTClient().Get().
		AbsPath("/apis", served.Group, served.Version, "namespaces", s.Namespace, resource).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx).Raw()
	if err != nil {
		return fmt.Errorf("listing %s as a table: %w", resource, err)
	}
	table, err := tableOf(body)
	if err != nil {
		return fmt.Errorf("listing %s as a table: %w", resource, err)
	}
	s.Answers.Tables = map[string]snapshot.Table{resource: table}
	return nil
}

// tableOf reads a Table of the API as kubectl get prints it.
func tableOf(body []byte) (snapshot.Table, error) {
	var answer metav1.Table
	if err := json.Unmarshal(body, &answer); err != nil {
		return snapshot.Table{}, err
	}
	if answer.Kind != "Table" {
		return snapshot.Table{}, fmt.Errorf("the API server answered with a %s", answer.Kind)
	}
	var table snapshot.Table
	for _, column := range answer.ColumnDefinitions {
		if column.Priority == 0 { // the others are for -o wide
			table.Columns = append(table.Columns, strings.ToUpper(column.Name))
		}
	}
	for _, row := range answer.Rows {
		var cells []string
		for i, cell := range row.Cells {
			switch {
			case i >= len(answer.ColumnDefinitions) || answer.ColumnDefinitions[i].Priority != 0:
			case cell == nil:
				cells = append(cells, "")
			default:
				cells = append(cells, fmt.Sprint(cell))
			}
		}
		table.Rows = append(table.Rows, cells)
	}
	return table, nil
}

// AskForPods asks which pods a label selector gives, as kubectl get pods -l does.
func (me *Learner) AskForPods(ctx context.Context, s *snapshot.Snapshot, selector string) error {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return err
	}
	var pods corev1.PodList
	if err := me.cluster.API.List(ctx, &pods, client.InNamespace(s.Namespace), client.MatchingLabelsSelector{Selector: parsed}); err != nil {
		return fmt.Errorf("listing the pods of %s: %w", selector, err)
	}
	if s.Answers.Selected == nil {
		s.Answers.Selected = map[string][]string{}
	}
	s.Answers.Selected[selector] = []string{}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp == nil {
			s.Answers.Selected[selector] = append(s.Answers.Selected[selector], pod.Name)
		}
	}
	return nil
}

// AskInPod asks what commands print in a pod, whatever their exit status.
func (me *Learner) AskInPod(ctx context.Context, s *snapshot.Snapshot, pod snapshot.Pod, commands ...string) error {
	if missing := matchers.MissingPod(pod); missing != nil {
		return fmt.Errorf("%s", missing.EN)
	}
	s.Answers.Printed = map[string]string{}
	for _, command := range commands {
		out, err := me.cluster.Exec(ctx, pod.Live, "sh", "-c", command+" 2>&1; true")
		if err != nil {
			return err
		}
		s.Answers.Printed[command] = out
	}
	return nil
}

// AskForHosts notes the hostname and subdomain of a JobSet's pods, which a recording leaves out.
func (me *Learner) AskForHosts(s *snapshot.Snapshot, jobSet string) {
	s.Answers.Hosts = map[string]string{}
	for _, pod := range s.JobSet(jobSet).Pods().Items {
		s.Answers.Hosts[pod.Name] = pod.Spec.Hostname + "." + pod.Spec.Subdomain
	}
}

// AskDryRun asks what the API server would make of a fixture, under a name that nobody has.
func (me *Learner) AskDryRun(ctx context.Context, s *snapshot.Snapshot, fixture string) error {
	back, _, err := admission.TryJobSet(ctx, me.cluster, fixture)
	if err != nil {
		return fmt.Errorf("a dry run of %s: %w", fixture, err)
	}
	s.Answers.DryRuns = map[string]jobsetv1.JobSetSpec{fixture: back.Spec}
	return nil
}

// AskMachine asks what the cluster is and when its parts were first up.
func (me *Learner) AskMachine(ctx context.Context, s *snapshot.Snapshot) error {
	m := &snapshot.Machine{Nodes: map[string]string{}, Boot: map[string]float64{}}
	s.Answers.Machine = m
	var err error
	if m.Kubernetes, err = me.cluster.Version(ctx); err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := me.cluster.API.List(ctx, &nodes); err != nil {
		return fmt.Errorf("listing the nodes: %w", err)
	}
	for _, node := range nodes.Items {
		m.Nodes[node.Name] = node.Spec.ProviderID
	}
	var first corev1.Namespace
	if err := me.cluster.API.Get(ctx, client.ObjectKey{Name: metav1.NamespaceSystem}, &first); err != nil {
		return fmt.Errorf("reading when the cluster was made: %w", err)
	}
	up := func(part string, at metav1.Time) {
		m.Boot[part] = max(m.Boot[part], at.Sub(first.CreationTimestamp.Time).Seconds())
	}
	if s.ClusterQueue != nil {
		up("ClusterQueue", s.ClusterQueue.CreationTimestamp)
	}
	for _, queue := range s.LocalQueues {
		up("LocalQueue", queue.CreationTimestamp)
	}
	var deployments appsv1.DeploymentList
	if err := me.cluster.API.List(ctx, &deployments); err != nil {
		return fmt.Errorf("listing the Deployments: %w", err)
	}
	m.JobSet = cluster.FindManager(deployments.Items, "jobset").Version
	for _, part := range []string{"jobset", "kueue"} {
		manager := cluster.FindManager(deployments.Items, part)
		namespace, name, _ := strings.Cut(manager.Deployment, "/")
		var pods corev1.PodList
		if err := me.cluster.API.List(ctx, &pods, client.InNamespace(namespace), client.MatchingLabels(manager.Selector)); err != nil {
			return fmt.Errorf("listing the pods of %s: %w", manager.Deployment, err)
		}
		for _, deployment := range deployments.Items {
			if deployment.Namespace == namespace && deployment.Name == name {
				m.Again += startedAgain(part, deployment, pods.Items)
			}
		}
		for _, pod := range pods.Items {
			for _, container := range pod.Status.ContainerStatuses {
				if container.State.Running != nil {
					up(part, container.State.Running.StartedAt)
				}
			}
		}
	}
	return nil
}

// startedAgain says of a manager whose first start cannot be seen any more why not.
func startedAgain(part string, deployment appsv1.Deployment, pods []corev1.Pod) string {
	for _, pod := range pods {
		if snapshot.ContainerRestarts(&pod) > 0 || pod.CreationTimestamp.Sub(deployment.CreationTimestamp.Time) > cluster.SoonEnough {
			return fmt.Sprintf("the %s manager has been started again since. ", part)
		}
	}
	return ""
}

// queues reports whether Kueue takes a kind in hand: with a queue label a Job must come
// back suspended from a dry run, and a pod gated. Where there is no answer it is taken to.
func (me *Learner) queues(ctx context.Context, kind Integration) bool {
	meta := metav1.ObjectMeta{GenerateName: "claim-", Namespace: me.cluster.Pins.Namespace, Labels: map[string]string{kueueconstants.QueueLabel: me.cluster.Pins.LocalQueue}}
	pod := corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: me.cluster.Image()}}}
	if kind == PodIntegration {
		asked := &corev1.Pod{ObjectMeta: meta, Spec: pod}
		return admission.TryCreate(ctx, me.cluster, asked) != nil || len(asked.Spec.SchedulingGates) > 0
	}
	asked := &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: pod}}}
	return admission.TryCreate(ctx, me.cluster, asked) != nil || ptr.Deref(asked.Spec.Suspend, false)
}
