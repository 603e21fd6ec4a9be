package matchers

import (
	"encoding/json"
	"maps"
	"slices"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Report judges that a file is a JSON object of exactly the three keys of the
// lab text, and that each says what the cluster says.
func Report(admitted, suspended []string, restarts int) Matcher[snapshot.File] {
	return func(f snapshot.File) *Mismatch {
		if r := missingFile(f); r != nil {
			return r
		}
		keys, refusal := objectIn(f)
		if refusal != nil {
			return refusal
		}
		wanted := []string{"admitted", "fragile_restarts", "suspended"}
		if found := slices.Sorted(maps.Keys(keys)); !slices.Equal(found, wanted) {
			words := snapshot.TextOf("%s 파일의 키는 %s 인데, 실습의 키는 %s 셋뿐입니다.", "The file %s has the keys %s; the lab asks for %s and no other.",
				f.Name, text.List(found), text.List(wanted))
			if len(found) == 0 {
				words = snapshot.TextOf("%s 파일에 키가 하나도 없는데, 실습의 키는 %s 셋입니다.", "The file %s has no key; the lab asks for %s.", f.Name, text.List(wanted))
			}
			return NewMismatch(ReportKeysWrong, words).Row("keys", text.List(wanted), text.List(found))
		}
		if r := names(f, "admitted", keys["admitted"], admitted,
			snapshot.Text{KO: "큐 라벨이 있고 입장한 JobSet", EN: "the JobSets that have a queue label and are admitted"}); r != nil {
			return r
		}
		if r := names(f, "suspended", keys["suspended"], suspended,
			snapshot.Text{KO: "spec.suspend 가 true 인 JobSet", EN: "the JobSets whose spec.suspend is true"}); r != nil {
			return r
		}
		var number float64
		if err := json.Unmarshal(keys["fragile_restarts"], &number); err != nil || string(keys["fragile_restarts"]) == "null" {
			return NewMismatch(ValueNotANumber, snapshot.TextOf("%s 파일의 fragile_restarts 값이 숫자가 아닙니다.", "The value of fragile_restarts in the file %s is not a number.", f.Name)).
				Row("fragile_restarts", restarts, string(keys["fragile_restarts"]))
		}
		if number == float64(restarts) {
			return nil
		}
		words := snapshot.TextOf("%s 파일의 fragile_restarts 값(%v)이 지금 JobSet fragile 의 재시작 횟수와 다릅니다.",
			"The file %s says %v for fragile_restarts, which is not how often JobSet fragile has restarted.", f.Name, number)
		if number < float64(restarts) {
			words = snapshot.TextOf("%s 파일의 fragile_restarts 값(%v)이 지금 JobSet fragile 의 재시작 횟수보다 작은데, 적은 뒤에 다시 재시작했을 수 있습니다.",
				"The file %s says %v for fragile_restarts, which is less than JobSet fragile has restarted by now; it may have restarted since that was written.", f.Name, number)
		}
		return NewMismatch(ValueOutdated, words).Row("fragile_restarts", restarts, number)
	}
}

// names compares one list of JobSet names, in any order, with the cluster's. The
// learner is shown which JobSets belong there, and not their names.
func names(f snapshot.File, key string, raw json.RawMessage, wanted []string, which snapshot.Text) *Mismatch {
	var written []string
	if err := json.Unmarshal(raw, &written); err != nil || string(raw) == "null" {
		return NewMismatch(ReportNotAList, snapshot.TextOf("%s 파일의 %s 값이 JobSet 이름의 목록이 아닙니다.", "The value of %[2]s in the file %[1]s is not a list of names.", f.Name, key)).
			Row(key, text.Quoted(wanted), string(raw))
	}
	found := slices.Sorted(slices.Values(written))
	if slices.Equal(found, wanted) {
		return nil
	}
	words := snapshot.TextOf("%s 파일의 %s 목록에 같은 JobSet 이 두 번 나옵니다.", "The file %s has a JobSet twice in %s.", f.Name, key)
	for _, name := range wanted {
		if !slices.Contains(found, name) {
			words = snapshot.TextOf("%s 파일의 %s 목록에 빠진 JobSet 이 있는데, "+which.KO+" 은 모두 적어야 합니다.",
				"The file %s lacks a JobSet in %s; all "+which.EN+" should be there.", f.Name, key)
		}
	}
	// A name that does not belong there explains why the right one is missed.
	for _, name := range found {
		if !slices.Contains(wanted, name) {
			words = snapshot.TextOf("%s 파일의 %s 목록에 %s 도 있는데, "+which.KO+" 만 적어야 합니다.",
				"The file %[1]s lists %[3]s in %[2]s; only "+which.EN+" should be there.", f.Name, key, name)
		}
	}
	return NewMismatch(ReportListWrong, words).Row(key, text.Quoted(wanted), text.Quoted(found))
}
