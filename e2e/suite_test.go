// Package e2e runs the lab's steps as Ginkgo specs on the cluster that LAB_KUBECONFIG
// names: go test ./e2e, or go tool ginkgo --label-filter=step-4 -v ./e2e. lab-e2e run
// is the same suite as a program.
package e2e

import (
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/suite"
	"gsb.test/jobset-e2e/e2e/steps"
)

func TestLab(t *testing.T) {
	t.Parallel()
	if os.Getenv("LAB_KUBECONFIG") == "" {
		t.Skip("LAB_KUBECONFIG names no lab, so no step is run; make up makes one and says where its kubeconfig is")
	}
	s := suite.New(steps.Course)
	if err := s.Prepare(os.Getenv); err != nil {
		suite.Refuse(os.Stderr, os.Getenv, err)
		t.FailNow()
	}
	suiteConfig, reporterConfig := ginkgo.GinkgoConfiguration()
	if status := s.Run(t, suiteConfig, reporterConfig); status != report.ExitPassed && status != report.ExitPartial {
		t.Fail()
	}
}
