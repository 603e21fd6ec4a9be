package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Seen is what a step was judged by, for its readers: the learner's files and the
// JobSets. It travels as a report entry of the step's spec.
type Seen struct {
	Files     []File     `json:"files,omitempty"`
	Manifests []Manifest `json:"manifests,omitempty"`
}

// A File is one of the learner's, as it was judged.
type File struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
	// Judged are the lines that the judgement rests on, from 0: without one of them it
	// would be another.
	Judged []int `json:"judged,omitempty"`
	// Missing says that there was no such file, Unread why it could not be read.
	Missing bool           `json:"missing,omitempty"`
	Unread  *snapshot.Text `json:"unread,omitempty"`
}

// A Manifest is an object as it was in the lab.
type Manifest struct {
	Name string `json:"name"`
	YAML string `json:"yaml"`
}

// seenEntry is the name of the report entry that holds a Seen.
const seenEntry = "seen"

// The longest file of which it is found out what is judged of it, and the most of its
// text that is kept.
const (
	judgedLines = 120
	keptText    = 24 << 10
)

// SeenOf collects what a step was judged by. judge is how.
func SeenOf(s *snapshot.Snapshot, jobSets, names []string, judge func(*snapshot.Snapshot) []*matchers.Mismatch) Seen {
	var seen Seen
	if s == nil {
		return seen
	}
	for _, name := range names {
		file := File{Name: name}
		text, written := s.Files[name]
		unread, there := s.FilesUnread[name]
		switch {
		case there:
			file.Unread = &unread
		case !written:
			file.Missing = true
		default:
			file.Judged = judged(s, name, text, judge)
			file.Text = clip(text, keptText)
		}
		seen.Files = append(seen.Files, file)
	}
	for i := range s.JobSets {
		if slices.Contains(jobSets, s.JobSets[i].Name) {
			seen.Manifests = append(seen.Manifests, manifestOf(&s.JobSets[i]))
		}
	}
	return seen
}

// judged finds out which lines the judgement rests on by judging without each.
func judged(s *snapshot.Snapshot, name, text string, judge func(*snapshot.Snapshot) []*matchers.Mismatch) []int {
	lines := strings.Split(text, "\n")
	if judge == nil || len(lines) > judgedLines || len(text) > keptText {
		return nil
	}
	with := fmt.Sprint(judge(s))
	var found []int
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		without := *s
		without.Files = map[string]string{}
		for other, content := range s.Files {
			without.Files[other] = content
		}
		without.Files[name] = strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
		if fmt.Sprint(judge(&without)) != with {
			found = append(found, i)
		}
	}
	return found
}

// manifestOf is a JobSet as a person would write it.
func manifestOf(live *jobsetv1.JobSet) Manifest {
	written := jobsetv1.JobSet{TypeMeta: metav1.TypeMeta{APIVersion: jobsetv1.SchemeGroupVersion.String(), Kind: "JobSet"}, Spec: *live.Spec.DeepCopy(), Status: *live.Status.DeepCopy()}
	written.ObjectMeta = metav1.ObjectMeta{Name: live.Name, Namespace: live.Namespace, Labels: live.Labels, Annotations: live.Annotations}
	content, err := yaml.Marshal(written)
	if err != nil {
		content = []byte(err.Error())
	}
	return Manifest{Name: "JobSet " + live.Name, YAML: clip(string(content), keptText)}
}

// Report attaches it to the running spec.
func (s Seen) Report() { ginkgo.AddReportEntry(seenEntry, s, types.ReportEntryVisibilityNever) }
