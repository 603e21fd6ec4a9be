package text

import (
	"testing"
)

func TestColumnsCountAKoreanSyllableAsTwoPlaces(t *testing.T) {
	t.Parallel()
	got := Columns([][]string{{"1", "리더", "passed"}, {"2", "abcdef", "passed"}, {"", "a last cell, however long, widens nothing"}})
	wanted := "1  리더    passed\n2  abcdef  passed\n   a last cell, however long, widens nothing"
	if got != wanted {
		t.Errorf("got\n%s\nwanted\n%s", got, wanted)
	}
}
