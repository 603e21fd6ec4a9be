package provision

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/kindcluster"
)

// The bug was here: an interrupt while the node was asked made a lab that stood one
// that does not answer, which is removed and made anew.
func TestAnInterruptWhileTheNodeIsAskedIsNoVerdictOnALab(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	// It has the mark, and hangs on whatever else it is asked.
	g.Expect(os.WriteFile(filepath.Join(folder, "docker"), []byte("#!/bin/sh\ncase \"$*\" in exec*"+kindcluster.CompleteMark+"*) echo 2026-12-01T02:00:00Z ;; *) exec sleep 60 ;; esac\n"), 0o755)).To(Succeed())
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	k := &kindcluster.Cluster{Name: "x", Engine: engine.Engine{Name: "docker"}, Kubeconfig: filepath.Join(folder, "kubeconfig"), Say: func(string) {}}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(500*time.Millisecond, cancel)
	verdict, err := inspectInside(ctx, testLab(t, "x"), k)
	g.Expect(err).To(MatchError(context.Canceled))
	g.Expect(verdict).To(BeEmpty())
}
