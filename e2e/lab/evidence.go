package lab

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
)

// logLines bounds each log in the evidence.
const logLines = 2000

// ClearEvidence removes what earlier runs left, and no other evidence: what made
// the lab may keep its own beside it.
func (w *World) ClearEvidence() error {
	return w.Settings.removeReports(append(w.Settings.evidenceNames(), "snapshots", "files")...)
}

// preflightFolder is where the evidence of a wrong world lies.
const preflightFolder = "preflight"

// GatherPreflight leaves behind what explains a wrong world.
func (w *World) GatherPreflight(ctx context.Context, message string) {
	w.Gather(ctx, preflightFolder, message)
}

// Gather leaves behind what explains a failure, in one directory below the
// evidence: the message, the snapshot, the timeline, events, the objects, the
// logs of the namespace's pods and of both controllers, and the node. It gathers
// what it can; what it could not lies in missing.txt.
func (w *World) Gather(ctx context.Context, folder, message string) {
	e := evidence{directory: filepath.Join(w.Settings.EvidenceDir(), folder)}
	e.write("failure.txt", []byte(message+"\n"))
	snapshot, err := w.Look(ctx)
	e.missing("the snapshot", err)
	if snapshot != nil {
		content, err := snapshot.YAML()
		e.missing("the snapshot", err)
		e.write("snapshot.yaml", content)
		e.write("timeline.txt", []byte(columns(snapshot.Seen.Timeline(func(Sighting) bool { return true }))+"\n"))
		e.write("events.txt", []byte(columns(eventRows(snapshot.Events))+"\n"))
		for i := range snapshot.Pods {
			e.log(ctx, w, &snapshot.Pods[i], "pods")
		}
	}
	for _, manager := range w.managers(ctx) {
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

// write leaves nothing where there is nothing to tell.
func (e *evidence) write(name string, content []byte) {
	if len(strings.TrimSpace(string(content))) == 0 {
		return
	}
	path := filepath.Join(e.directory, name)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = replaceFile(path, content)
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
func (e *evidence) log(ctx context.Context, w *World, pod *corev1.Pod, folder string) {
	for _, status := range pod.Status.ContainerStatuses {
		for _, previous := range []bool{false, true} {
			if previous && status.RestartCount == 0 || status.ContainerID == "" {
				continue
			}
			name := filepath.Join(folder, pod.Name+"-"+status.Name+".log")
			if previous {
				name = filepath.Join(folder, pod.Name+"-"+status.Name+"-before.log")
			}
			within, cancel := brief(ctx)
			lines := int64(logLines)
			content, err := w.clients.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name,
				&corev1.PodLogOptions{Container: status.Name, Previous: previous, TailLines: &lines}).DoRaw(within)
			cancel()
			e.missing(name, err)
			e.write(name, content)
		}
	}
}

func (e *evidence) managerLogs(ctx context.Context, w *World, manager Manager) {
	namespace, _, _ := strings.Cut(manager.Deployment, "/")
	within, cancel := brief(ctx)
	defer cancel()
	var pods corev1.PodList
	err := w.client.List(within, &pods, client.InNamespace(namespace), client.MatchingLabels(manager.selector))
	e.missing("the pods of "+manager.Deployment, err)
	for i := range pods.Items {
		e.log(ctx, w, &pods.Items[i], "controllers")
	}
}

func (e *evidence) objects(ctx context.Context, w *World, name string, list client.ObjectList) {
	within, cancel := brief(ctx)
	defer cancel()
	err := w.client.List(within, list)
	var content []byte
	if err == nil {
		content, err = yaml.Marshal(list)
	}
	e.missing(name, err)
	e.write(name, content)
}

// managers finds the Deployments of both controllers, as far as they exist.
func (w *World) managers(ctx context.Context) []Manager {
	within, cancel := brief(ctx)
	defer cancel()
	var deployments appsv1.DeploymentList
	if err := w.client.List(within, &deployments); err != nil {
		return nil
	}
	var managers []Manager
	for _, image := range []string{"jobset", "kueue"} {
		if manager := findManager(deployments.Items, image); manager.Deployment != "" {
			managers = append(managers, manager)
		}
	}
	return managers
}

func eventRows(events []Event) [][]string {
	var rows [][]string
	for _, event := range events {
		rows = append(rows, []string{fmt.Sprintf("%+.1fs", event.At), event.Type, event.Reason, event.Object, event.Message})
	}
	return rows
}
