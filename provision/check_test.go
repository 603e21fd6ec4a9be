package provision

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckHandsOverToTheSuite(t *testing.T) {
	l := &Lab{Name: "of-the-test", Checkout: t.TempDir()}
	if err := l.Check(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "make check") {
		t.Errorf("a program that is not built gives %v", err)
	}
	suite := filepath.Join(l.Checkout, ".lab", "bin", "lab-e2e")
	seen := filepath.Join(l.Checkout, "seen")
	script := "#!/bin/sh\necho \"$LAB_KUBECONFIG\" \"$@\" >" + seen + "\nexit 2\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(suite), 0o755), os.WriteFile(suite, []byte(script), 0o755)); err != nil {
		t.Fatal(err)
	}
	for given, found := range map[string]string{"": l.Kubeconfig(), "/another": "/another"} {
		t.Setenv("LAB_KUBECONFIG", given)
		err := l.Check(context.Background(), []string{"--step", "4", "--json"})
		var ended *Ended
		if !errors.As(err, &ended) || ended.Code != 2 {
			t.Errorf("the program's exit status 2 became %v", err)
		}
		if content, err := os.ReadFile(seen); err != nil || string(content) != found+" check --step 4 --json\n" {
			t.Errorf("the program was run with %q, %v", content, err)
		}
	}
}
