package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	clientexec "k8s.io/client-go/util/exec"
)

// here runs the scripts on this machine, as a node without systemd would, in a
// folder of the test's own. breaks says of each exec whether its stream breaks
// after the script has run.
func here(t *testing.T, breaks func(n int64) bool) execer {
	t.Helper()
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("this machine has no setsid, which every Linux node has")
	}
	folder := filepath.Join(t.TempDir(), "node")
	var n atomic.Int64
	return func(ctx context.Context, script string, args ...string) (string, error) {
		script = strings.ReplaceAll(script, "/run/systemd/system", "/nowhere")
		script = strings.ReplaceAll(script, "/sys/fs/cgroup", "/nowhere")
		script = strings.ReplaceAll(script, nodeFolder, folder)
		args[0] = strings.ReplaceAll(args[0], nodeFolder, folder)
		printed, err := exec.CommandContext(ctx, "sh", append([]string{"-ec", script, "sh"}, args...)...).Output()
		if breaks(n.Add(1)) {
			return "", errors.New("next reader: websocket: close 1006 (abnormal closure)")
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) && exit.Exited() {
			return "", clientexec.CodeExitError{Err: errors.New(string(exit.Stderr)), Code: exit.ExitCode()}
		}
		return string(printed), err
	}
}

func never(int64) bool { return false }

func count(t *testing.T, file string) int {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Count(string(content), "\n")
}

func TestACommandRunsOnceThoughEveryStreamBreaks(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ran")
	// Each exec breaks twice before its answer comes through.
	node := here(t, func(n int64) bool { return n%3 != 0 })
	if err := node.run(t.Context(), "run-1", "sleep 1; echo ran >>"+file); err != nil {
		t.Fatal(err)
	}
	if n := count(t, file); n != 1 {
		t.Errorf("the command ran %d times", n)
	}
}

func TestManyCommandsEndAsTheyShould(t *testing.T) {
	t.Parallel()
	node := here(t, never)
	for n := range 25 {
		if err := node.run(t.Context(), fmt.Sprintf("run-%d", n), "true"); err != nil {
			t.Fatalf("command %d: %v", n, err)
		}
	}
}

func TestACommandThatFailsSaysWhatItPrinted(t *testing.T) {
	t.Parallel()
	err := here(t, never).run(t.Context(), "run-1", "echo no such rule >&2; false; echo not reached")
	var failed *commandError
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "ended 1: no such rule") || strings.Contains(err.Error(), "reached\nnot") {
		t.Errorf("the error is %v", err)
	}
}

func TestAScriptOfOursThatCannotRunFailsAtOnce(t *testing.T) {
	t.Parallel()
	node, began := here(t, never), time.Now()
	if err := node.run(t.Context(), "run-1", "true"); err != nil {
		t.Fatal(err)
	}
	err := node.run(t.Context(), "run-1/command/x", "true") // below a file
	if err == nil || time.Since(began) > 10*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

func TestACommandThatIsEnded(t *testing.T) {
	t.Parallel()
	node := here(t, never)
	t.Run("before it began never begins", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "ran")
		if began, err := node.end(t.Context(), "late"); began || err != nil {
			t.Fatalf("it began: %v, %v", began, err)
		}
		if err := node.run(t.Context(), "late", "echo ran >>"+file); err == nil || count(t, file) != 0 {
			t.Errorf("it ran %d times: %v", count(t, file), err)
		}
	})
	t.Run("while it runs is waited for", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "ran")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := node.run(ctx, "slow", "sleep 3; echo ran >>"+file); err == nil {
			t.Fatal("a run that was interrupted ended well")
		}
		if began, err := node.end(t.Context(), "slow"); !began || err != nil || count(t, file) != 1 {
			t.Errorf("it began: %v, %v, and ran %d times to its end", began, err, count(t, file))
		}
	})
	t.Run("if it hangs is killed", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := node.run(ctx, "hangs", "sleep 6543"); err == nil {
			t.Fatal("a run that was interrupted ended well")
		}
		began, err := node.end(t.Context(), "hangs")
		left, _ := exec.Command("pgrep", "-f", "^sleep 6543$").Output()
		if !began || err != nil || len(left) > 0 {
			t.Errorf("it began: %v, %v; still there: %s", began, err, left)
		}
	})
}
