// Package evidence keeps what explains a failure: objects, events, logs, a timeline.
package evidence

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// logLines bounds each log in the evidence.
const logLines = 2000

// GatherEnvironment leaves behind what explains a wrong target.
func GatherEnvironment(ctx context.Context, w *cluster.Cluster, message string) {
	Gather(ctx, w, report.PreflightFolder, message)
}

// Gather leaves behind what explains a failure, in one directory below the
// evidence: the message, the snapshot, the timeline, events, the objects, the
// logs of the namespace's pods and of both controllers, and the node. It gathers
// what it can; what it could not lies in missing.txt.
func Gather(ctx context.Context, w *cluster.Cluster, folder, message string) {
	e := evidence{directory: filepath.Join(w.Settings.EvidenceDir(), folder)}
	e.write("failure.txt", []byte(message+"\n"))
	seen, err := w.Look(ctx)
	e.missing("the snapshot", err)
	if seen != nil {
		content, err := seen.YAML()
		e.missing("the snapshot", err)
		e.write("snapshot.yaml", content)
		e.write("timeline.txt", []byte(text.Columns(seen.Seen.Timeline(func(snapshot.ObjectHistory) bool { return true }))+"\n"))
		e.write("events.txt", []byte(text.Columns(eventRows(seen.Events))+"\n"))
		for i := range seen.Pods {
			e.log(ctx, w, &seen.Pods[i], "pods")
		}
	}
	for _, manager := range managers(ctx, w) {
		e.managerLogs(ctx, w, manager)
	}
	e.objects(ctx, w, "nodes.yaml", &corev1.NodeList{})
	e.objects(ctx, w, "pods-everywhere.yaml", &corev1.PodList{})
	e.write("missing.txt", []byte(strings.Join(e.absent, "\n")))
}

// evidence is one directory being filled.
type evidence struct {
	directory string
	absent    []string
}

// write leaves nothing where there is nothing to tell, and no secret: who reads the
// evidence may be anybody who can see what CI keeps.
func (e *evidence) write(name string, content []byte) {
	if len(strings.TrimSpace(string(content))) == 0 {
		return
	}
	path := filepath.Join(e.directory, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = files.ReplaceFile(path, []byte(text.Redact(string(content))))
	}
	e.missing(name, err)
}

func (e *evidence) missing(what string, err error) {
	if err != nil {
		e.absent = append(e.absent, what+": "+err.Error())
	}
}

// log keeps the end of the log of each of a pod's containers, and of the run
// before if the container was restarted.
func (e *evidence) log(ctx context.Context, w *cluster.Cluster, pod *corev1.Pod, folder string) {
	for _, status := range pod.Status.ContainerStatuses {
		for _, previous := range []bool{false, true} {
			if previous && status.RestartCount == 0 || status.ContainerID == "" {
				continue
			}
			name := filepath.Join(folder, pod.Name+"-"+status.Name+".log")
			if previous {
				name = filepath.Join(folder, pod.Name+"-"+status.Name+"-before.log")
			}
			within, cancel := cluster.Brief(ctx)
			lines := int64(logLines)
			content, err := w.Clientset.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
				&corev1.PodLogOptions{Container: status.Name, Previous: previous, TailLines: &lines}).DoRaw(within)
			cancel()
			e.missing(name, err)
			e.write(name, content)
		}
	}
}

func (e *evidence) managerLogs(ctx context.Context, w *cluster.Cluster, manager cluster.Manager) {
	namespace, _, _ := strings.Cut(manager.Deployment, "/")
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	var pods corev1.PodList
	err := w.API.List(within, &pods, client.InNamespace(namespace), client.MatchingLabels(manager.Selector))
	e.missing("the pods of "+manager.Deployment, err)
	for i := range pods.Items {
		e.log(ctx, w, &pods.Items[i], "controllers")
	}
}

func (e *evidence) objects(ctx context.Context, w *cluster.Cluster, name string, list client.ObjectList) {
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	err := w.API.List(within, list)
	if pods, ok := list.(*corev1.PodList); ok {
		withoutEnvironment(pods)
	}
	var content []byte
	if err == nil {
		content, err = yaml.Marshal(list)
	}
	e.missing(name, err)
	e.write(name, content)
}

// managers finds the Deployments of both controllers, as far as they exist.
func managers(ctx context.Context, w *cluster.Cluster) []cluster.Manager {
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	var deployments appsv1.DeploymentList
	if err := w.API.List(within, &deployments); err != nil {
		return nil
	}
	var managers []cluster.Manager
	for _, image := range []string{"jobset", "kueue"} {
		if manager := cluster.FindManager(deployments.Items, image); manager.Deployment != "" {
			managers = append(managers, manager)
		}
	}
	return managers
}

func eventRows(events []snapshot.Event) [][]string {
	var rows [][]string
	for _, event := range events {
		rows = append(rows, []string{fmt.Sprintf("%+.1fs", event.At), event.Type, event.Reason, event.Object, event.Message})
	}
	return rows
}

// withoutEnvironment takes from pods, which may be anybody's, what they are told in
// confidence, and what repeats it.
func withoutEnvironment(pods *corev1.PodList) {
	for i := range pods.Items {
		pod := &pods.Items[i]
		pod.ManagedFields = nil
		delete(pod.Annotations, snapshot.KubectlApplied)
		for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
			for j := range containers {
				containers[j].Env, containers[j].EnvFrom = nil, nil
			}
		}
		for j := range pod.Spec.EphemeralContainers {
			pod.Spec.EphemeralContainers[j].Env, pod.Spec.EphemeralContainers[j].EnvFrom = nil, nil
		}
	}
}
