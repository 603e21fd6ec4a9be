package faults

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheFirstFailureIsHeardWhenItIsPrinted(t *testing.T) {
	var log bytes.Buffer
	h := &firstFailureWriter{Writer: &log}
	pieces := []string{"step 1 hello •••\n", "• [FAI", "LED] [2 s", "econds]\n"}
	for i, piece := range pieces {
		if _, err := h.Write([]byte(piece)); err != nil {
			t.Fatal(err)
		}
		if told := !h.at.IsZero(); told != (i >= 2) {
			t.Errorf("after %q the failure was heard: %v", piece, told)
		}
	}
	first := h.at
	if _, err := h.Write([]byte("[FAILED] another")); err != nil || h.at != first {
		t.Errorf("a later failure is taken for the first: %v, %v", h.at, err)
	}
	if log.String() != strings.Join(pieces, "")+"[FAILED] another" {
		t.Errorf("the log is not what was printed: %q", log.String())
	}
}

func TestARunWithoutAFailureIsHeardOfNothing(t *testing.T) {
	h := &firstFailureWriter{Writer: &bytes.Buffer{}}
	for range 100 {
		if _, err := h.Write([]byte("step 1 hello ••• FAILED? no\n")); err != nil || !h.at.IsZero() {
			t.Fatalf("a failure was heard where none was told: %v", err)
		}
	}
}
