package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// What make dist has built (LAB_DIST names the folder) must run on a machine that
// has nothing: no interpreter, no library, the right processor. It tells the size
// of each program and, of the one that runs here, how long it takes to start.
func TestDist(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("LAB_DIST")
	if folder == "" {
		t.Skip("make dist runs this on what it has built")
	}
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		path := filepath.Join(folder, "lab-e2e-linux-"+arch)
		program, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer program.Close()
		if program.Machine != machine {
			t.Errorf("%s is for %s, not %s", path, program.Machine, machine)
		}
		if slices.ContainsFunc(program.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC }) {
			t.Errorf("%s is not static", path)
		}
		file, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size := float64(file.Size()) / 1e6
		if runtime.GOOS != "linux" || arch != runtime.GOARCH {
			t.Logf("%-20s %5.1f MB, static; not run, this machine is %s", filepath.Base(path), size, runtime.GOARCH)
			continue
		}
		t.Logf("%-20s %5.1f MB, static; lab-e2e list takes %.2f s", filepath.Base(path), size, startsWithin(t, path).Seconds())
	}
}

// startsWithin is the median of nine starts.
func startsWithin(t *testing.T, path string) time.Duration {
	t.Helper()
	var took []time.Duration
	for range 9 {
		began := time.Now()
		if told, err := exec.Command(path, "list").CombinedOutput(); err != nil {
			t.Fatalf("%s list: %v: %s", path, err, told)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}
