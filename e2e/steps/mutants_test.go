package steps

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gsb.test/jobset-e2e/e2e/lab"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A mutant is the recorded lab with one field of one object changed.
type mutant struct {
	// of names the object and the field, such as "Pod hello-leader spec.nodeName"; how is
	// what was done to it.
	of, how string
	about   []int // the steps that the object is about
	lab     *snapshot.Snapshot
}

// Where each JobSet, and what belongs to it, is judged.
var stepsOf = map[string][]int{"hello": {1, 2, 3}, "fragile": {4, 8}, "eval": {5}, "train": {6, 8}, "big": {7, 8}}

// kindsOf are the lists of a snapshot whose objects are changed.
var kindsOf = []struct{ field, kind string }{
	{"JobSets", "JobSet"}, {"Jobs", "Job"}, {"Pods", "Pod"}, {"Workloads", "Workload"}, {"Services", "Service"}, {"LocalQueues", "LocalQueue"},
}

// No field of what the steps are about is judged by accident: each change of one is
// refused by a step, or stands in immaterial with the reason why it does not
// matter. A field that is new in an API is in no pattern.
func TestEveryFieldIsJudgedOrDoesNotMatter(t *testing.T) {
	t.Parallel()
	survived := map[string][]string{}
	tried, refused := 0, 0
	used := map[string]bool{}
	for m := range mutants(t) {
		tried++
		if m.isRefused() {
			refused++
			continue
		}
		at := slices.IndexFunc(immaterial, func(p pattern) bool { return p.matches(m) })
		if at < 0 {
			survived[m.of] = append(survived[m.of], m.how)
			continue
		}
		used[immaterial[at].of] = true
	}
	for _, of := range slices.Sorted(maps.Keys(survived)) {
		t.Errorf("no step refuses this, and no pattern says that it does not matter: %s (%s)", of, strings.Join(slices.Compact(survived[of]), ", "))
	}
	for _, p := range immaterial {
		if !used[p.of] {
			t.Errorf("the pattern %q matches no change that every step lets pass; remove it", p.of)
		}
	}
	t.Logf("%d changes were tried, %d are refused", tried, refused)
}

func (m mutant) isRefused() bool {
	return slices.ContainsFunc(Course.Steps, func(s lab.Step) bool {
		return slices.Contains(m.about, s.Number) && len(s.Judge(m.lab).Mismatches) > 0
	})
}

// matches reports whether a pattern is about the change.
func (p pattern) matches(m mutant) bool {
	return regexp.MustCompile("^("+p.of+")$").MatchString(m.of) && (p.how == "" || regexp.MustCompile("^("+p.how+")$").MatchString(m.how))
}

// mutants are all changes of the recorded lab.
func mutants(t *testing.T) func(func(mutant) bool) {
	t.Helper()
	lab := solved(t)
	return func(yield func(mutant) bool) {
		for _, list := range kindsOf {
			objects := reflect.ValueOf(lab).Elem().FieldByName(list.field)
			for i := range objects.Len() {
				name, about := ownerOf(list.kind, objects.Index(i))
				if len(about) == 0 {
					continue
				}
				for change := range changes(t, objects.Index(i).Interface()) {
					changed := reflect.New(objects.Type().Elem())
					if json.Unmarshal(change.object, changed.Interface()) != nil {
						continue // the API's type cannot hold it
					}
					other := *lab
					all := reflect.MakeSlice(objects.Type(), objects.Len(), objects.Len())
					reflect.Copy(all, objects)
					all.Index(i).Set(changed.Elem())
					reflect.ValueOf(&other).Elem().FieldByName(list.field).Set(all)
					if !yield(mutant{list.kind + " " + name + " " + change.path, change.how, about, &other}) {
						return
					}
				}
			}
		}
		for change := range changes(t, lab.ClusterQueue) {
			other := *lab
			other.ClusterQueue = nil
			if json.Unmarshal(change.object, &other.ClusterQueue) != nil {
				continue
			}
			if !yield(mutant{"ClusterQueue ml " + change.path, change.how, []int{6, 7}, &other}) {
				return
			}
		}
	}
}

// ownerOf names an object without what differs from run to run, and the steps that it is about.
func ownerOf(kind string, object reflect.Value) (name string, about []int) {
	name = object.FieldByName("Name").String()
	if kind == "LocalQueue" {
		return name, []int{6, 7}
	}
	name = strings.TrimPrefix(name, "jobset-")
	jobSet, _, _ := strings.Cut(name, "-")
	if kind == "Workload" {
		name = jobSet
	}
	return regexp.MustCompile(`-[ab]{5}$`).ReplaceAllString(name, ""), stepsOf[jobSet]
}

// A change is an object as JSON with one field changed.
type change struct {
	path, how string
	object    []byte
}

// changes are an object with each of its fields changed in each way, one at a time.
func changes(t *testing.T, object any) func(func(change) bool) {
	t.Helper()
	content, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(content, &tree); err != nil {
		t.Fatal(err)
	}
	return func(yield func(change) bool) {
		walk(tree, "", func(path, how string) bool {
			changed, err := json.Marshal(tree)
			if err != nil {
				t.Fatal(err)
			}
			return yield(change{strings.TrimPrefix(path, "."), how, changed})
		})
	}
}

// walk changes each value below a node in place, calls f, and puts it back.
func walk(node any, path string, f func(path, how string) bool) bool {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			was := node[key]
			at := path + "." + key
			if !eachChange(was, func(value any, how string) bool {
				if node[key] = value; value == nil {
					delete(node, key)
				}
				return f(at, how)
			}) {
				return false
			}
			if node[key] = was; !walk(was, at, f) {
				return false
			}
		}
	case []any:
		for i, was := range node {
			at := path + "[]"
			if !eachChange(was, func(value any, how string) bool {
				if value == nil {
					return true // a list without it is a change of the list
				}
				node[i] = value
				return f(at, how)
			}) {
				return false
			}
			if node[i] = was; !walk(was, at, f) {
				return false
			}
		}
	}
	return true
}

// eachChange calls f with what a value is changed into; nil is without it.
func eachChange(value any, f func(value any, how string) bool) bool {
	others := map[string]any{"without": nil}
	switch value := value.(type) {
	case string:
		others["other"], others["empty"] = "other"+value, ""
	case float64:
		others["one more"], others["one less"] = value+1, value-1
	case bool:
		others["flipped"] = !value
	case map[string]any:
		if len(value) == 0 {
			delete(others, "without") // {} and nothing are read alike by most types
			others["nothing"] = nil
		}
	case []any:
		for i := range value {
			others[fmt.Sprintf("without [%d]", i)] = slices.Delete(slices.Clone(value), i, i+1)
			others[fmt.Sprintf("[%d] twice", i)] = append(slices.Clone(value), value[i])
		}
	}
	for _, how := range slices.Sorted(maps.Keys(others)) {
		if !f(others[how], how) {
			return false
		}
	}
	return true
}
