package matchers

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// objectIn reads a file as one JSON object, each key of which stands in it once.
func objectIn(f snapshot.File) (map[string]json.RawMessage, *Mismatch) {
	keys := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte(f.Text), &keys); err != nil || keys == nil {
		why := whyNoObject(f.Text, err)
		words := snapshot.TextOf("%s 파일을 JSON 객체로 읽을 수 없습니다", "The file %s cannot be read as a JSON object", f.Name)
		return nil, NewMismatch(ReportNotJSON, snapshot.Text{KO: words.KO + "(" + why.KO + ").", EN: words.EN + " (" + why.EN + ")."}).
			Row(f.Name, "a JSON object", f.Quote())
	}
	// Of a key that is there twice, Go takes the last value, and other readers the first.
	found := map[string]bool{}
	decoder := json.NewDecoder(strings.NewReader(f.Text))
	_, _ = decoder.Token() // the bracket; the whole is known to be an object
	for decoder.More() {
		token, _ := decoder.Token()
		key, _ := token.(string)
		if found[key] {
			return nil, NewMismatch(KeyTwice, snapshot.TextOf("%s 파일에 키 %s 가 두 번 나옵니다.", "The file %s has the key %s twice.", f.Name, key)).
				Row(f.Name, "each key once", f.Quote())
		}
		found[key] = true
		var value json.RawMessage
		_ = decoder.Decode(&value)
	}
	return keys, nil
}

// whyNoObject says what in a text is not JSON, and on which line, or what it is instead of
// an object.
func whyNoObject(content string, err error) snapshot.Text {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return snapshot.TextOf("객체가 아니라 다른 값입니다", "it is another value than an object")
	}
	at := min(max(int(syntax.Offset)-1, 0), len(content))
	before := strings.TrimRightFunc(content[:at], unicode.IsSpace)
	line := strings.Count(content[:at], "\n") + 1
	here, _ := utf8.DecodeRuneInString(content[at:])
	said := syntax.Error()
	switch {
	case strings.Contains(said, "unexpected end"):
		return snapshot.TextOf("괄호나 따옴표가 닫히지 않은 채 끝납니다", "it ends before each bracket and quotation mark is closed")
	case strings.Contains(said, "after top-level value"):
		return snapshot.TextOf("%d번째 줄: 값 하나가 끝난 뒤에 다른 것이 더 있습니다", "line %d: something follows behind the first value", line)
	case strings.Contains(said, "in string"):
		return snapshot.TextOf("%d번째 줄: 따옴표 안에 있을 수 없는 글자나 줄바꿈이 있습니다", "line %d: between quotation marks is a character, or the end of a line, that cannot be there", line)
	case here == '\'':
		return snapshot.TextOf("%d번째 줄: 작은따옴표가 있습니다", "line %d: there is a single quotation mark", line)
	case strings.ContainsRune("“”„‘’", here):
		return snapshot.TextOf("%d번째 줄: 모양이 다른 따옴표(%c)가 있습니다", "line %d: there is a typographic quotation mark (%c)", line, here)
	case here == '/' || here == '#':
		return snapshot.TextOf("%d번째 줄: 주석이 있습니다", "line %d: there is a comment", line)
	case (here == '}' || here == ']') && strings.HasSuffix(before, ","):
		return snapshot.TextOf("%d번째 줄: 쉼표 뒤에 아무것도 없습니다", "line %d: there is nothing behind a comma", line)
	case here == '"' && strings.Contains(said, "after "):
		return snapshot.TextOf("%d번째 줄: 앞의 값과 쉼표나 쌍점으로 나뉘지 않은 것이 있습니다", "line %d: something is not divided by a comma or colon from what is before it", line)
	case unicode.IsLetter(here):
		// Go reads the start of train as that of true: the word begins before.
		start := strings.LastIndexFunc(content[:at], notInAWord) + 1
		word := content[start:]
		if end := strings.IndexFunc(word, notInAWord); end >= 0 {
			word = word[:end]
		}
		return snapshot.TextOf("%d번째 줄: 큰따옴표 없이 적힌 낱말 %s 이(가) 있습니다", "line %d: the word %s is without double quotation marks", line, text.Shorten(word))
	}
	return snapshot.TextOf("%d번째 줄: %q 이(가) 올 수 없는 자리에 있습니다", "line %d: %q is where it cannot be", line, string(here))
}

func notInAWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }
