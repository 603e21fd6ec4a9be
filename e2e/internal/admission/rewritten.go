package admission

import (
	"fmt"
	"maps"
	"slices"
)

// rewritable are fields that may well come back otherwise: the name, which a dry run makes
// up, and the image and the program, which a mirror or a sidecar changes and keeps working.
var rewritable = []string{"name", "generateName", "image", "imagePullPolicy", "command", "args"}

// Rewritten lists what was asked for and came back otherwise, or not at all, as "path is X
// and not Y". What was added beside it is no change. Both are objects as JSON has them.
func Rewritten(asked, back map[string]any) []string {
	return rewritten("", asked, back)
}

func rewritten(path string, asked, back any) []string {
	switch asked := asked.(type) {
	case nil:
		return nil
	case map[string]any:
		found, _ := back.(map[string]any)
		var changed []string
		for _, key := range slices.Sorted(maps.Keys(asked)) {
			if !slices.Contains(rewritable, key) {
				changed = append(changed, rewritten(join(path, key), asked[key], found[key])...)
			}
		}
		return changed
	case []any:
		found, _ := back.([]any)
		var changed []string
		for i, item := range asked {
			changed = append(changed, rewritten(fmt.Sprintf("%s[%d]", path, i), item, counterpart(item, i, found))...)
		}
		return changed
	}
	// A quantity is a number in a manifest and a string in the answer.
	if back != nil && fmt.Sprint(asked) == fmt.Sprint(back) {
		return nil
	}
	if back == nil {
		return []string{fmt.Sprintf("%s is gone and was %v", path, asked)}
	}
	return []string{fmt.Sprintf("%s is %v and not %v", path, back, asked)}
}

// counterpart is the item of the same name, or at the same place where items have none.
func counterpart(item any, at int, among []any) any {
	if named, ok := item.(map[string]any); ok && named["name"] != nil {
		for _, other := range among {
			if of, ok := other.(map[string]any); ok && of["name"] == named["name"] {
				return other
			}
		}
		return nil
	}
	if at < len(among) {
		return among[at]
	}
	return nil
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}
