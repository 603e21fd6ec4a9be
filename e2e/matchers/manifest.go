package matchers

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	yamlreader "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueueconstants "sigs.k8s.io/kueue/pkg/controller/constants"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// BeTheManifestOf judges that a file is the manifest of the JobSet that stands
// in the cluster: whatever the file says, the JobSet says too, and the file says
// all that the lab text asks for (see leftOut). What else it leaves to defaults, and
// whether Kueue has suspended the JobSet since, is not compared.
func BeTheManifestOf(j snapshot.JobSet) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := missingFile(f); r != nil {
			return r
		}
		written, refusal := jobSet(f, j.Name)
		if refusal != nil {
			return refusal
		}
		namespace := j.Snapshot.Namespace
		if written.Namespace != "" && written.Namespace != namespace {
			return NewMismatch(ManifestInOtherNamespace, snapshot.TextOf("%s 파일의 JobSet 은 네임스페이스가 %s 인데, %s 네임스페이스여야 합니다.",
				"The JobSet in %s is for namespace %s; the lab asks for it in %s.", f.Name, written.Namespace, namespace)).
				Row("metadata.namespace", namespace, written.Namespace)
		}
		if r := MissingJobSet(j); r != nil {
			return r
		}
		written.Spec.Suspend = nil
		path, inFile, inCluster := firstDifference("metadata.labels", generic(written.Labels), generic(j.Live.Labels))
		if path == "" {
			path, inFile, inCluster = firstDifference("spec", generic(written.Spec), generic(j.Live.Spec))
		}
		if path == "" {
			path, inFile, inCluster = leftOut(written, j.Live, j.Snapshot.GPUResource)
		}
		if path == "" {
			return nil
		}
		return NewMismatch(ManifestDiffers, snapshot.TextOf("%s 파일의 내용이 클러스터에 있는 JobSet %s 의 내용과 다릅니다(%s).",
			"What %s says is not what JobSet %s in the cluster says (%s).", f.Name, j.Name, path)).
			Row(path, inFile+" (in the file)", inCluster+" (in the cluster)")
	}
}

// jobSet finds a JobSet by name among the documents of a YAML or JSON file, and among the
// items of a List, which kubectl get prints.
func jobSet(f snapshot.File, name string) (*jobsetv1.JobSet, *Mismatch) {
	documents := yamlreader.NewYAMLReader(bufio.NewReader(strings.NewReader(f.Text)))
	var others []string
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		objects, err := objectsIn(document, err)
		for _, object := range objects {
			var found jobsetv1.JobSet
			group, _, _ := strings.Cut(object.GetAPIVersion(), "/")
			if object.GetKind() == "JobSet" && group == jobsetv1.GroupVersion.Group && object.GetName() == name {
				if err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &found); err == nil {
					return &found, nil
				}
				break
			}
			if object.GetKind() != "" {
				others = append(others, strings.TrimPrefix(fmt.Sprintf("%s %s %s", object.GetAPIVersion(), object.GetKind(), object.GetName()), " "))
			}
		}
		if err != nil {
			return nil, NewMismatch(ManifestUnreadable, snapshot.TextOf("%s 파일을 YAML 로 읽을 수 없습니다.", "The file %s cannot be read as the YAML of a JobSet.", f.Name)).
				Row(f.Name, "the JobSet "+name, strings.Join(strings.Fields(err.Error()), " "))
		}
	}
	return nil, NewMismatch(ManifestOfOtherObject, snapshot.TextOf("%s 파일에 이름이 %s 인 JobSet 이 적혀 있지 않습니다.", "The file %s has no JobSet named %s in it.", f.Name, name)).
		Row("content", jobsetv1.GroupVersion.String()+" JobSet "+name, text.List(others))
}

// objectsIn reads the object of one document, or the items of a List.
func objectsIn(document []byte, err error) ([]unstructured.Unstructured, error) {
	var object unstructured.Unstructured
	if err == nil {
		err = yaml.Unmarshal(document, &object.Object)
	}
	if err != nil || !object.IsList() {
		return []unstructured.Unstructured{object}, err
	}
	list, err := object.ToList()
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// leftOut finds the first of the things that the lab text asks for (the queue
// label, the roles, their pods and GPUs) that a file leaves out though the JobSet
// in the cluster has it: one that was put there by other means than the file.
// Whatever the file does say is known to be so in the cluster, in the same order.
func leftOut(written, live *jobsetv1.JobSet, gpu string) (path, inFile, inCluster string) {
	same := func(where string, file, cluster any) bool {
		if path == "" && file != cluster {
			path, inFile, inCluster = where, text.OrNone(fmt.Sprint(file)), text.OrNone(fmt.Sprint(cluster))
		}
		return path == ""
	}
	same("metadata.labels."+kueueconstants.QueueLabel, written.Labels[kueueconstants.QueueLabel], live.Labels[kueueconstants.QueueLabel])
	if !same("spec.replicatedJobs", len(written.Spec.ReplicatedJobs), len(live.Spec.ReplicatedJobs)) {
		return path, inFile, inCluster
	}
	for i, role := range live.Spec.ReplicatedJobs {
		at, file := fmt.Sprintf("spec.replicatedJobs[%s]", role.Name), written.Spec.ReplicatedJobs[i]
		same(at+".name", file.Name, role.Name)
		same(at+".template.spec.parallelism", ptr.Deref(file.Template.Spec.Parallelism, 1), ptr.Deref(role.Template.Spec.Parallelism, 1))
		same(at+".template.spec.completions", ptr.Deref(file.Template.Spec.Completions, 1), ptr.Deref(role.Template.Spec.Completions, 1))
		same(at+" "+gpu, snapshot.GpusOf(file.Template.Spec.Template.Spec, gpu), snapshot.GpusOf(role.Template.Spec.Template.Spec, gpu))
	}
	return path, inFile, inCluster
}

// firstDifference goes through what the file says and returns the first place where
// the cluster says otherwise, with both values; an empty path if there is none.
func firstDifference(path string, wanted, found any) (where, inFile, inCluster string) {
	switch w := wanted.(type) {
	case map[string]any:
		f, _ := found.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(w)) {
			if where, inFile, inCluster = firstDifference(path+"."+key, w[key], f[key]); where != "" {
				return where, inFile, inCluster
			}
		}
		return "", "", ""
	case []any:
		f, _ := found.([]any)
		if len(w) != len(f) {
			return path, text.Times(len(w), "entry"), text.Times(len(f), "entry")
		}
		for i := range w {
			if where, inFile, inCluster = firstDifference(fmt.Sprintf("%s[%s]", path, entryName(w[i], i)), w[i], f[i]); where != "" {
				return where, inFile, inCluster
			}
		}
		return "", "", ""
	}
	// What a file leaves out is null or empty here; a 0 or a false is what it says.
	if wanted == nil || wanted == "" || reflect.DeepEqual(wanted, found) {
		return "", "", ""
	}
	return path, fmt.Sprint(wanted), text.OrNone(strings.TrimSuffix(fmt.Sprint(found), "<nil>"))
}

// entryName calls an entry of a list by its name if it has one, as a reader does.
func entryName(entry any, index int) string {
	if fields, ok := entry.(map[string]any); ok {
		if name, ok := fields["name"].(string); ok {
			return name
		}
	}
	return fmt.Sprint(index)
}

// generic turns an API type into maps and lists, with quantities in one spelling.
func generic(value any) any {
	var result any
	// API types always marshal, and what was marshalled unmarshals.
	if content, err := json.Marshal(value); err == nil {
		_ = json.Unmarshal(content, &result)
	}
	return result
}
