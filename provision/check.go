package provision

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Check runs the suite's program to grade a learner's work on this lab, with
// these arguments for its check command. LAB_KUBECONFIG names another lab. It
// changes nothing, so nobody's hold on the lab stands in its way.
func (l *Lab) Check(ctx context.Context, args []string) error {
	suite := filepath.Join(l.Checkout, ".lab", "bin", "lab-e2e")
	if _, err := os.Stat(suite); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the suite's program %s is not built: make check builds it and does the same", suite)
	}
	var env []string
	if os.Getenv("LAB_KUBECONFIG") == "" {
		env = append(env, "LAB_KUBECONFIG="+l.Kubeconfig())
	}
	return Run(ctx, append([]string{suite, "check"}, args...), env...)
}
