package matchers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Say judges that a file has one line key=number with this number, which comes from
// the cluster: the sentence of a wrong one says so.
func Say(key string, wanted int) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := missingFile(f); r != nil {
			return r
		}
		pairs, _ := f.Pairs()
		var values []string
		for _, p := range pairs {
			if p.Key == key {
				values = append(values, p.Value)
			}
		}
		line := fmt.Sprintf("%s=%d", key, wanted)
		if len(values) == 0 {
			return NewMismatch(KeyMissing, snapshot.TextOf("%s 파일에 %s= 로 적은 줄이 없습니다.", "The file %s has no line %s=.", f.Name, key)).Row(f.Name, line, f.Quote())
		}
		if len(slices.Compact(values)) > 1 {
			return NewMismatch(KeyContradictory, snapshot.TextOf("%s 파일에 %s= 줄이 여럿이고 값이 서로 다릅니다.", "The file %s says %s= more than once, and not the same.", f.Name, key)).Row(f.Name, line, f.Quote())
		}
		found, err := strconv.Atoi(values[0])
		if err != nil {
			return NewMismatch(ValueNotANumber, snapshot.TextOf("%s 파일의 %s= 뒤에 숫자가 아닌 것이 적혀 있습니다.", "What the file %s has behind %s= is not a number.", f.Name, key)).Row(f.Name, line, f.Quote())
		}
		if found != wanted {
			return NewMismatch(ValueOutdated, snapshot.TextOf("%s 파일의 %s=%d 줄이 지금 클러스터의 값과 다릅니다.",
				"The file %s says %s=%d, which is not what the cluster says now.", f.Name, key, found)).
				Row(key, fmt.Sprintf("%d (the cluster's)", wanted), fmt.Sprintf("%d (the file's)", found))
		}
		return nil
	}
}

// HoldLabelsOf judges that a file has exactly these labels of the pod, one line
// key=value each, in any order.
func HoldLabelsOf(pod snapshot.Pod, keys ...string) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := MissingPod(pod); r != nil {
			return r
		}
		if r := missingFile(f); r != nil {
			return r
		}
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
			value, there := written[key]
			switch {
			case !there:
				return NewMismatch(KeyMissing, snapshot.TextOf("%s 파일에 키 %s 줄이 없습니다.", "The file %s lacks the key %s.", f.Name, key)).Row("keys", len(keys), len(pairs))
			case value != pod.Label(key):
				return NewMismatch(LabelValueWrong, snapshot.TextOf("%[1]s 파일의 %[2]s=%[3]s 줄이 완료 인덱스가 %[5]d 인 %[4]s 파드에 붙은 값과 다릅니다.",
					"The file %[1]s says %[2]s=%[3]s, which is not what the %[4]s pod of completion index %[5]d carries.",
					f.Name, key, value, pod.Role, pod.Index)).
					Row(key, pod.Label(key), value)
			}
		}
		return nil
	}
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

// CarryReasonOf judges that a file has the reason for which Kueue refused the
// Workload its quota: the message as a whole, or one whole clause of it (Kueue
// puts one for each podSet, with semicolons between), whatever else is around
// it. A message that the Workload carried earlier counts too, since its numbers
// follow what the rest of the queue does. The bare word of the reason field does
// only where it tells more than that the Workload waits.
func CarryReasonOf(workload snapshot.Workload) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := missingWorkload(workload); r != nil {
			return r
		}
		if r := missingFile(f); r != nil {
			return r
		}
		reasons := workload.Reasons()
		if len(reasons) == 0 {
			return NewMismatch(ReasonNotYetGiven, snapshot.TextOf("JobSet %s 의 Workload 에 아직 사유가 없어서 %s 파일과 견줄 수 없습니다.",
				"Kueue has given no reason for JobSet %s yet to compare %s with.", workload.Of.Name, f.Name))
		}
		text := oneLine(f.Text)
		for _, reason := range reasons {
			for clause := range strings.SplitSeq(oneLine(reason), "; ") {
				if clause != "" && strings.Contains(text, clause) {
					return nil
				}
			}
		}
		reserved := workload.Condition("QuotaReserved")
		if reserved != nil && tellsWhy(reserved.Reason) && slices.Contains(strings.FieldsFunc(text, notALetter), reserved.Reason) {
			return nil
		}
		return NewMismatch(ReasonNotInFile, snapshot.TextOf("%s 파일의 내용이 JobSet %s 의 Workload 에 적힌 사유와 다릅니다.",
			"The file %s does not carry the reason that the Workload of JobSet %s gives.", f.Name, workload.Of.Name)).
			Row("reason", reasons[0], f.Quote())
	}
}

func tellsWhy(reason string) bool { return reason != "Pending" && reason != "Waiting" }

func notALetter(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }

// oneLine makes any run of blanks and line ends one blank: kubectl describe
// wraps, YAML folds, and neither changes what was said. Backslashes before
// quotes are JSON's.
func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(text, `\"`, `"`)), " ")
}
