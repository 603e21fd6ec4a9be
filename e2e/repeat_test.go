package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// repeatCommand walks one lab several times. Each walk is a program of its own,
// since a suite runs once in a process, with reports and files of its own.
func repeatCommand() *cobra.Command {
	given := surroundings{}
	command := &cobra.Command{Use: "repeat N", Short: "Walk one lab N times, and tell what fails only sometimes", Args: cobra.ExactArgs(1)}
	given.flag(command, "kubeconfig", "LAB_KUBECONFIG", "the kubeconfig of the lab; no other is ever used")
	given.flag(command, "reports", "LAB_REPORTS", "where the reports and the evidence go")
	command.RunE = func(_ *cobra.Command, args []string) error {
		n, err := strconv.Atoi(args[0])
		if err != nil || n < 1 {
			return fmt.Errorf("%q is no number of walks; give one from 1 up, such as lab-e2e repeat 10", args[0])
		}
		root, err := settings.Root()
		if err != nil {
			return err
		}
		settings, err := settings.ReadSettings(given.getenv, root)
		if err != nil {
			return err
		}
		repeats, err := repeat(settings, n)
		if err != nil {
			return err
		}
		if repeats.Failed() > 0 {
			return status(report.ExitFailed)
		}
		return nil
	}
	return command
}

func repeat(settings settings.Settings, n int) (report.Repeats, error) {
	repeats := report.Repeats{Schema: 1, Suite: report.Commit, Started: time.Now(), Wanted: n}
	self, err := os.Executable()
	if err != nil {
		return repeats, fmt.Errorf("finding this program to start it again: %w", err)
	}
	end, err := report.BeginRepeats(settings)
	if err != nil {
		return repeats, err
	}
	defer end()
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(interrupts)
	for run := 1; run <= n; run++ {
		own := report.Nth(settings, run)
		fmt.Printf("walk %d of %d … ", run, n)
		interrupted, err := walkOnce(self, own, interrupts)
		if err != nil {
			return repeats, err
		}
		verdict, err := report.ReadVerdict(own)
		if err != nil {
			return repeats, err
		}
		repeats.Add(verdict)
		fmt.Printf("%s in %.1f s\n", verdict.Verdict, verdict.Seconds)
		if interrupted || verdict.Verdict == "not run" {
			fmt.Printf("no more walks: %s\n", verdict.Reason)
			break
		}
	}
	fmt.Printf("\n%s\n\n what each walk said: %s\n", repeats, filepath.Join(settings.Reports, "repeats"))
	return repeats, report.SaveRepeats(settings, repeats)
}

// walkOnce runs the program once and keeps what it says. It is in a process group
// of its own, so that it hears of one interrupt once, from here.
func walkOnce(self string, own settings.Settings, interrupts <-chan os.Signal) (interrupted bool, err error) {
	if err := os.MkdirAll(own.Reports, 0o755); err != nil {
		return false, fmt.Errorf("making the folder of a walk: %w", err)
	}
	said, err := os.Create(filepath.Join(own.Reports, "output.txt"))
	if err != nil {
		return false, fmt.Errorf("keeping what a walk says: %w", err)
	}
	defer said.Close()
	walk := exec.Command(self, "run", "--kubeconfig", own.Kubeconfig, "--reports", own.Reports, "--workdir", own.WorkDir)
	walk.Stdout, walk.Stderr = said, said
	walk.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := walk.Start(); err != nil {
		return false, fmt.Errorf("starting a walk: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- walk.Wait() }()
	for {
		select {
		case got := <-interrupts:
			interrupted = true
			if err := walk.Process.Signal(got); err != nil && !errors.Is(err, os.ErrProcessDone) {
				return true, fmt.Errorf("handing an interrupt on: %w", err)
			}
		case err := <-ended:
			var failed *exec.ExitError
			if err != nil && !errors.As(err, &failed) {
				return interrupted, fmt.Errorf("running a walk: %w", err)
			}
			return interrupted, nil // how it ended is in its verdict
		}
	}
}
