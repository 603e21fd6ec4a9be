package provision

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
)

// programVariable makes this test program one of the programs below, run by Main as
// the lab program is; folderVariable is a folder of the test.
const (
	programVariable = "PROVISION_TEST_PROGRAM"
	folderVariable  = "PROVISION_TEST_FOLDER"
)

// programs are what a test interrupts. Each says on its standard output when it is ready.
var programs = map[string]func(context.Context, *labs.Unfinished) error{
	// works until it is interrupted, then cleans up.
	"cleans": func(ctx context.Context, u *labs.Unfinished) error {
		fmt.Println("ready")
		<-ctx.Done()
		return errors.Join(ctx.Err(), os.WriteFile(filepath.Join(os.Getenv(folderVariable), "cleaned"), nil, 0o644))
	},
	// is being made, and hangs in its cleanup.
	"hangs": func(ctx context.Context, u *labs.Unfinished) error {
		u.Begin("half", "made")
		fmt.Println("ready")
		<-ctx.Done()
		fmt.Println("cleaning")
		select {}
	},
	// prints to a reader that goes away.
	"prints": func(context.Context, *labs.Unfinished) error {
		for range 1000 {
			if _, err := fmt.Println(strings.Repeat("a line of a list ", 100)); err != nil {
				return os.WriteFile(filepath.Join(os.Getenv(folderVariable), "cleaned"), []byte(err.Error()), 0o644)
			}
		}
		return errors.New("somebody read all of it")
	},
	// goes on for a moment whatever happens to its terminal.
	"lasts": func(ctx context.Context, u *labs.Unfinished) error {
		fmt.Println("ready")
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(500 * time.Millisecond):
			return nil
		}
	},
	// runs a command, which prints its process id.
	"runs": func(ctx context.Context, u *labs.Unfinished) error {
		return Run(ctx, []string{"bash", "-c", "echo $$; while :; do sleep 0.05; done"})
	},
	// asks a container engine that does not answer.
	"asks": func(ctx context.Context, u *labs.Unfinished) error {
		fmt.Println("ready")
		_, err := engine.Engine{Name: "docker"}.Run(ctx, "inspect", "anything")
		return err
	},
}

// TestProgram is not a test: it is the program that the tests below run.
func TestProgram(*testing.T) {
	if name := os.Getenv(programVariable); name != "" {
		Main("lab", programs[name])
	}
}

// started is one of the programs on its way.
type started struct {
	*exec.Cmd
	out    *bufio.Reader
	errs   bytes.Buffer
	folder string
}

// start starts a program, through a command in front of it if any are named, and
// returns when it has printed its first line.
func start(t *testing.T, name string, before ...string) *started {
	t.Helper()
	g := NewWithT(t)
	args := append(before, os.Args[0], "-test.run=^TestProgram$")
	s := &started{Cmd: exec.Command(args[0], args[1:]...), folder: t.TempDir()}
	s.Env = append(os.Environ(), programVariable+"="+name, folderVariable+"="+s.folder)
	s.Stderr = &s.errs
	out, err := s.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	s.out = bufio.NewReader(out)
	g.Expect(s.Start()).To(Succeed())
	t.Cleanup(func() { _ = s.Process.Kill() })
	return s
}

func (s *started) line(t *testing.T) string {
	t.Helper()
	line, err := s.out.ReadString('\n')
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), s.errs.String())
	return strings.TrimSpace(line)
}

func (s *started) send(t *testing.T, sig syscall.Signal) {
	t.Helper()
	NewWithT(t).Expect(s.Process.Signal(sig)).To(Succeed())
}

// exit waits for the end and returns the exit status; -1 is the end by a signal.
func (s *started) exit() int {
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

func TestASignalEndsTheProgramAfterItsCleanup(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			g := NewWithT(t)
			s := start(t, "cleans")
			s.line(t)
			s.send(t, sig)
			s.send(t, syscall.SIGTERM) // what timeout sends to the whole group belongs to the first
			g.Expect(s.exit()).To(Equal(130))
			g.Expect(filepath.Join(s.folder, "cleaned")).To(BeARegularFile())
			g.Expect(s.errs.String()).To(And(ContainSubstring("Once more ends at once"), ContainSubstring("lab: interrupted\n")))
		})
	}
}

func TestASecondInterruptEndsAtOnceAndSaysWhatIsLeft(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := start(t, "hangs")
	s.line(t)
	s.send(t, syscall.SIGINT)
	s.line(t)
	<-time.After(sameInterrupt + 200*time.Millisecond)
	s.send(t, syscall.SIGINT)
	g.Expect(s.exit()).To(Equal(130))
	g.Expect(s.errs.String()).To(And(ContainSubstring("interrupted again"), ContainSubstring("The lab half was being made"),
		ContainSubstring("make down LAB_NAME=half")))
}

func TestAReaderWhoGoesAwayEndsNothing(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := start(t, "prints", "bash", "-c", `"$@" | head -1 >/dev/null; exit ${PIPESTATUS[0]}`, "bash")
	g.Expect(s.exit()).To(Equal(0), s.errs.String())
	g.Expect(os.ReadFile(filepath.Join(s.folder, "cleaned"))).To(ContainSubstring("broken pipe"))
}

func TestNohupIsHonoured(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := start(t, "lasts", "bash", "-c", `trap '' HUP; exec "$@"`, "bash")
	s.line(t)
	s.send(t, syscall.SIGHUP)
	g.Expect(s.exit()).To(Equal(0), s.errs.String())
}

func TestAKilledProgramTakesItsCommandWithIt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := start(t, "runs")
	var pid int
	_, err := fmt.Sscan(s.line(t), &pid)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	s.send(t, syscall.SIGKILL)
	s.exit()
	g.Eventually(func() error { return syscall.Kill(pid, 0) }).WithTimeout(5 * time.Second).Should(MatchError(syscall.ESRCH))
}

func TestAKilledCommandIsReportedAsKilled(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	s := start(t, "runs")
	var pid int
	_, err := fmt.Sscan(s.line(t), &pid)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(syscall.Kill(pid, syscall.SIGKILL)).To(Succeed())
	g.Expect(s.exit()).To(Equal(137))
	g.Expect(s.errs.String()).To(ContainSubstring("lab: the command bash was killed: signal killed (out of memory?)"))
}

func TestAnInterruptWhileTheEngineIsAskedIsNoFailure(t *testing.T) {
	g := NewWithT(t)
	programs := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(programs, "docker"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o755)).To(Succeed())
	t.Setenv("PATH", programs+":"+os.Getenv("PATH"))
	s := start(t, "asks")
	s.line(t)
	s.send(t, syscall.SIGTERM)
	g.Expect(s.exit()).To(Equal(130))
	g.Expect(s.errs.String()).To(ContainSubstring("lab: interrupted\n"))
}

func TestHowARunEnded(t *testing.T) {
	t.Parallel()
	failed := errors.New("no image")
	for _, ended := range []struct {
		name        string
		err         error
		interrupted bool
		status      int
		said        string
	}{
		{"well", nil, false, 0, ""},
		{"well, although interrupted too late", nil, true, 0, ""},
		{"failed", failed, false, 1, "\nlab: no image\n"},
		{"failed when interrupted", failed, true, 130, "\nlab: interrupted, and this was not done: no image\n"},
		{"interrupted", fmt.Errorf("GPUs: %w", context.Canceled), true, 130, "\nlab: interrupted\n"},
		{"interrupted, and the lab stands", &keptError{context.Canceled, "the lab existed before"}, true, 130, "\nlab: interrupted\n   the lab existed before\n"},
		{"not removed", errors.Join(context.Canceled, kindcluster.ErrNotRemoved), true, 1, "\nlab: context canceled\n" + kindcluster.ErrNotRemoved.Error() + "\n"},
		{"its command failed", &CommandError{Code: 3}, false, 3, ""},
		{"its command was killed", &CommandError{Code: 143, Program: "lab-e2e", Signal: syscall.SIGTERM}, false, 143, "\nlab: the command lab-e2e was killed: signal terminated\n"},
	} {
		t.Run(ended.name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			g.Expect(report(&out, "lab", ended.err, ended.interrupted)).To(Equal(ended.status))
			g.Expect(out.String()).To(Equal(ended.said))
		})
	}
}
