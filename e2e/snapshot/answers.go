package snapshot

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
)

// Answers are what the lab was asked for one claim of the lab text, beside what a
// snapshot always holds. Only what that claim asks for is filled in.
type Answers struct {
	// Machine is the cluster itself.
	Machine *Machine `json:"machine,omitempty"`
	// Tables are what kubectl get prints, by resource.
	Tables map[string]Table `json:"tables,omitempty"`
	// Selected are the names of the pods that a label selector gives, by the selector.
	Selected map[string][]string `json:"selected,omitempty"`
	// Printed is what commands printed in a pod, by the command.
	Printed map[string]string `json:"printed,omitempty"`
	// Hosts are the pods' hostname and subdomain with a point between them, by pod name.
	Hosts map[string]string `json:"hosts,omitempty"`
	// DryRuns are the JobSets that the API server would make of fixtures, by the fixture.
	DryRuns map[string]jobsetv1.JobSetSpec `json:"dryRuns,omitempty"`
}

// A Machine is what a cluster says of itself.
type Machine struct {
	Kubernetes string `json:"kubernetes"`
	JobSet     string `json:"jobSet,omitempty"`
	// Nodes are the provider IDs of the nodes, by name.
	Nodes map[string]string `json:"nodes,omitempty"`
	// Boot is in seconds, and from its first start on, when each part of the lab was up.
	Boot map[string]float64 `json:"boot,omitempty"`
	// Again says of a part that was started again since why its first start is not known.
	Again string `json:"again,omitempty"`
}

// A Table is what kubectl get prints: the columns that it shows without -o wide, in
// capitals as kubectl has them, and a row for each object.
type Table struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows,omitempty"`
}

// Cell returns what stands in a column in the row of an object.
func (t Table) Cell(object, column string) (value string, there bool) {
	at := slices.Index(t.Columns, column)
	for _, row := range t.Rows {
		if at >= 0 && at < len(row) && len(row) > 0 && row[0] == object {
			return row[at], true
		}
	}
	return "", false
}

// Printed is what a command printed in a pod, as a file that the matchers judge.
func (s *Snapshot) Printed(command string) File {
	file := File{Name: command}
	if s.Answers != nil {
		var text string
		text, file.Written = s.Answers.Printed[command]
		file.Text = Plain(text)
	}
	return file
}

// Owned returns the names of the present pods of the JobSet's Jobs, by what owns them and not by
// any label.
func (j JobSet) Owned() []string {
	var names []string
	for _, pod := range j.Snapshot.Pods {
		if job := metav1.GetControllerOf(&pod); job != nil && pod.DeletionTimestamp == nil && j.Live != nil && j.owns(job.UID) {
			names = append(names, pod.Name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

func (j JobSet) owns(job types.UID) bool {
	for _, other := range j.Snapshot.Jobs {
		if owner := metav1.GetControllerOf(&other); other.UID == job && owner != nil && owner.UID == j.Live.UID {
			return true
		}
	}
	return false
}

// Service returns the Service that the JobSet owns; nil if there is none.
func (j JobSet) Service() *corev1.Service {
	for i, service := range j.Snapshot.Services {
		if owner := metav1.GetControllerOf(&service); owner != nil && j.Live != nil && owner.UID == j.Live.UID {
			return &j.Snapshot.Services[i]
		}
	}
	return nil
}

// Searches reports whether a resolv.conf lets the domain be tried behind a short name.
func Searches(resolvConf, domain string) bool {
	var domains []string
	for line := range strings.Lines(resolvConf) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "search" {
			domains = fields[1:] // the last one counts
		}
	}
	return slices.Contains(domains, domain)
}
