package matchers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// readEitherWay judges a file as it is and, where that refuses it, as it was before a
// terminal wrapped its lines. The words are those for the file as it is.
func readEitherWay(f snapshot.File, judge Matcher[snapshot.File]) *Mismatch {
	refusal := judge(f)
	if unwrapped := f.Unwrapped(); refusal != nil && unwrapped.Text != f.Text && judge(unwrapped) == nil {
		return nil
	}
	return refusal
}

// Say judges that a file has one line key=number with this number, which comes from
// the cluster: the sentence of a wrong one says so.
func Say(key string, wanted int) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := missingFile(f); r != nil {
			return r
		}
		pairs, _ := f.Pairs()
		values := map[string]bool{}
		value := ""
		for _, p := range pairs {
			if p.Key == key {
				value = p.Value
				values[value] = true
			}
		}
		line := fmt.Sprintf("%s=%d", key, wanted)
		if len(values) == 0 {
			return NewMismatch(KeyMissing, snapshot.TextOf("%s 파일에 %s= 로 적은 줄이 없습니다.", "The file %s has no line %s=.", f.Name, key)).Row(f.Name, line, f.Quote())
		}
		if len(values) > 1 {
			return NewMismatch(KeyContradictory, snapshot.TextOf("%s 파일에 %s= 줄이 여럿이고 값이 서로 다릅니다.", "The file %s says %s= more than once, and not the same.", f.Name, key)).Row(f.Name, line, f.Quote())
		}
		found, err := strconv.Atoi(value)
		if err != nil {
			return NewMismatch(ValueNotANumber, snapshot.TextOf("%s 파일의 %s= 뒤에 정수 하나가 아닌 것이 적혀 있습니다.", "What the file %s has behind %s= is not one whole number.", f.Name, key)).Row(f.Name, line, f.Quote())
		}
		if found == wanted {
			return nil
		}
		words := snapshot.TextOf("%s 파일의 %s=%d 줄이 지금 클러스터의 값과 다릅니다.", "The file %s says %s=%d, which is not what the cluster says now.", f.Name, key, found)
		if found < wanted {
			words = snapshot.TextOf("%s 파일의 %s=%d 줄이 지금 클러스터의 값보다 작은데, 적은 뒤에 클러스터의 값이 올랐을 수 있습니다.",
				"The file %s says %s=%d, which is less than the cluster says now; the number there may have risen since that line was written.", f.Name, key, found)
		}
		return NewMismatch(ValueOutdated, words).Row(key, fmt.Sprintf("%d (the cluster's)", wanted), fmt.Sprintf("%d (the file's)", found))
	}
}

// HoldLabelsOf judges that a file has these labels of the pod, as key=value each, in any
// order, and no other key: the lab text asks for these. YAML and JSON are refused, for the lab text asks for
// key=value.
func HoldLabelsOf(pod snapshot.Pod, keys ...string) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := MissingPod(pod); r != nil {
			return r
		}
		if r := missingFile(f); r != nil {
			return r
		}
		return readEitherWay(f, func(f snapshot.File) *Mismatch { return labelsIn(f, pod, keys) })
	}
}

func labelsIn(f snapshot.File, pod snapshot.Pod, keys []string) *Mismatch {
	pairs, others := f.Pairs()
	if len(others) > 0 {
		return NewMismatch(LineMalformed, snapshot.TextOf("%s 파일에 키=값 모양이 아닌 줄이 있습니다.", "The file %s has a line that is not key=value.", f.Name)).Row("line", "key=value", others[0])
	}
	written := map[string]string{}
	for _, p := range pairs {
		if _, twice := written[p.Key]; twice {
			return NewMismatch(KeyTwice, snapshot.TextOf("%s 파일에 키 %s 줄이 두 번 나옵니다.", "The file %s has the key %s twice.", f.Name, p.Key)).Row("lines", len(keys), len(pairs))
		}
		written[p.Key] = p.Value
		if twin := sameName(keys, p.Key); twin != "" {
			return NewMismatch(KeyPrefixWrong, snapshot.TextOf("%s 파일의 키 %s 의 접두사가 파드에 붙은 라벨의 접두사와 다릅니다.",
				"The file %s has the key %s, whose prefix is not that of the pod's label.", f.Name, p.Key)).Row("key", twin, p.Key)
		}
		if !slices.Contains(keys, p.Key) {
			return NewMismatch(KeyUnexpected, snapshot.TextOf("%s 파일에 키 %s 줄이 있는데, 실습에서 적을 라벨 %d개에 들지 않습니다.",
				"The file %s has the key %s, which is not one of the %d labels that the lab asks for.", f.Name, p.Key, len(keys))).
				Row("keys", strings.Join(keys, ", "), p.Key)
		}
	}
	for _, key := range keys {
		if _, there := written[key]; !there {
			return NewMismatch(KeyMissing, snapshot.TextOf("%s 파일에 키 %s 줄이 없습니다.", "The file %s lacks the key %s.", f.Name, key)).Row("keys", len(keys), len(pairs))
		}
	}
	for _, p := range pairs {
		if p.Value != pod.Label(p.Key) {
			return NewMismatch(LabelValueWrong, snapshot.TextOf("%[1]s 파일의 %[2]s=%[3]s 줄이 완료 인덱스가 %[5]d 인 %[4]s 파드에 붙은 값과 다릅니다.",
				"The file %[1]s says %[2]s=%[3]s, which is not what the %[4]s pod of completion index %[5]d carries.",
				f.Name, p.Key, p.Value, pod.Role, pod.Index)).
				Row(p.Key, pod.Label(p.Key), p.Value)
		}
	}
	return nil
}

// sameName finds the key that differs from a wrong one in its prefix alone.
func sameName(keys []string, wrong string) string {
	for _, key := range keys {
		if _, name, _ := strings.Cut(key, "/"); key != wrong && strings.TrimPrefix(wrong[strings.LastIndex(wrong, "/")+1:], "/") == name {
			return key
		}
	}
	return ""
}
