// Package snapshot is one reading of the lab and its history: data, typed views of it,
// and no client. What is judged of a lab is judged of a Snapshot.
package snapshot

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	"sigs.k8s.io/yaml"
)

// A Controller is whether one of the lab's two controllers is there to work.
type Controller struct {
	Name       string `json:"name"`       // JobSet or Kueue
	Deployment string `json:"deployment"` // namespace/name
	Available  bool   `json:"available"`
	Why        string `json:"why,omitempty"` // why it is not available
}

// A Node is whether one of the lab's nodes is there to work.
type Node struct {
	Name     string `json:"name"`
	NotReady string `json:"notReady,omitempty"` // why it is not Ready
}

// ScaledToNone is why a manager is not there that somebody switched off.
const ScaledToNone = "it is scaled to 0"

// NoDeviceVariable is why nobody can see which device a pod holds where the device plugin
// does not say it to the container. The lab text asks for no such variable.
const NoDeviceVariable = "the device plugin sets no NVIDIA_VISIBLE_DEVICES"

// A Snapshot is one reading of the lab: the objects of its namespace, the
// learner's files, and what was ever seen. Judgements are pure functions of it,
// so a snapshot written as YAML can be judged again anywhere.
type Snapshot struct {
	Taken     time.Time `json:"taken"`
	Namespace string    `json:"namespace"`
	// GPUResource is the extended resource that stands for one GPU.
	GPUResource string `json:"gpuResource"`

	JobSets   []jobsetv1.JobSet  `json:"jobSets,omitempty"`
	Jobs      []batchv1.Job      `json:"jobs,omitempty"`
	Pods      []corev1.Pod       `json:"pods,omitempty"`
	Workloads []kueuev1.Workload `json:"workloads,omitempty"`
	Services  []corev1.Service   `json:"services,omitempty"`

	LocalQueues []kueuev1.LocalQueue `json:"localQueues,omitempty"`
	// ClusterQueue is the lab's one, nil if there is none.
	ClusterQueue *kueuev1.ClusterQueue `json:"clusterQueue,omitempty"`

	// Controllers are the JobSet and the Kueue manager, as far as they can be seen.
	Controllers []Controller `json:"controllers,omitempty"`
	// Nodes are the lab's, as far as they can be seen.
	Nodes []Node `json:"nodes,omitempty"`
	// Forbidden are the resources that this user may not read, such as pods or
	// workloads.kueue.x-k8s.io: what is not here of them may be there.
	Forbidden []string `json:"forbidden,omitempty"`
	// Unanswered says of a lookup that was tried for this snapshot that no DNS
	// server answered it.
	Unanswered string `json:"unanswered,omitempty"`
	// NameUnknown says of such a lookup that a DNS server answered that there is no such
	// name, and ExecRefused why the command was not let into the pod.
	NameUnknown string `json:"nameUnknown,omitempty"`
	ExecRefused string `json:"execRefused,omitempty"`

	// Elsewhere names JobSets of other namespaces, as namespace/name.
	Elsewhere []string `json:"elsewhere,omitempty"`

	// Devices is NVIDIA_VISIBLE_DEVICES as seen from inside each running pod
	// that asks for a GPU, by pod name; empty text if the variable is not set.
	// DevicesUnseen says why it could not be seen.
	Devices       map[string]string `json:"devices,omitempty"`
	DevicesUnseen map[string]string `json:"devicesUnseen,omitempty"`
	// ReadOnly says that it was taken by a client that only reads, and once:
	// without a look inside of any pod, and without a history.
	ReadOnly bool `json:"readOnly,omitempty"`

	// Files is the work directory: the text of each file that a step asks for, by name.
	// FilesUnread says of what lies in the place of one why it is no text to be judged.
	Files       map[string]string `json:"files,omitempty"`
	FilesUnread map[string]Text   `json:"filesUnread,omitempty"`

	Events []Event `json:"events,omitempty"`
	Seen   History `json:"seen"`

	// Answers are what was asked for one claim of the lab text; nil for all else.
	Answers *Answers `json:"answers,omitempty"`
}

// An Event is a Kubernetes event, shortened.
type Event struct {
	// At is in seconds since the recorder started, and may be negative.
	At      float64   `json:"at"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Object  string    `json:"object"` // Kind/Name
	UID     types.UID `json:"uid,omitempty"`
	Message string    `json:"message,omitempty"`
	Count   int32     `json:"count,omitempty"`
}

// ParseSnapshot reads a snapshot that YAML wrote. An unknown key is an error,
// so that a recorded snapshot cannot silently lose what it was recorded for.
func ParseSnapshot(content []byte) (*Snapshot, error) {
	var snapshot Snapshot
	if err := yaml.UnmarshalStrict(content, &snapshot); err != nil {
		return nil, fmt.Errorf("this is not a snapshot of the lab: %w", err)
	}
	return &snapshot, nil
}

// YAML writes the snapshot so that ParseSnapshot reads it back.
func (s *Snapshot) YAML() ([]byte, error) {
	content, err := yaml.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("writing the snapshot as YAML: %w", err)
	}
	return content, nil
}

// JobSet returns the view of one JobSet, whether it exists or not.
func (s *Snapshot) JobSet(name string) JobSet {
	view := JobSet{Name: name, Snapshot: s}
	for i := range s.JobSets {
		if s.JobSets[i].Name == name {
			view.Live = &s.JobSets[i]
		}
	}
	return view
}

// File returns the view of one file of the work directory, written or not.
func (s *Snapshot) File(name string) File {
	text, written := s.Files[name]
	file := File{Name: name, Text: Plain(text), Written: written}
	if unread, there := s.FilesUnread[name]; there {
		file.Unread = &unread
	}
	return file
}

// Queue returns the view of the lab's ClusterQueue.
func (s *Snapshot) Queue() Queue { return Queue{Live: s.ClusterQueue} }
