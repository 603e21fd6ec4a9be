package process

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// lockVariable makes this test program the parent of the tests below: it locks the
// file that the variable names, and runs a command that says when it is there.
const lockVariable = "PROCESS_TEST_LOCK"

func TestMain(m *testing.M) {
	path := os.Getenv(lockVariable)
	if path == "" {
		os.Exit(m.Run())
	}
	if _, free, err := TryLock(path); err != nil || !free {
		fmt.Println(free, err)
		os.Exit(1)
	}
	// The first SIGTERM is what the end of its parent brings; it takes a moment to clean up.
	command := Command(context.Background(), "bash", "-c", `trap 'while ! [ -e "$0.go" ]; do sleep 0.05; done; echo cleaned >"$0.cleaned"; exit' TERM
		echo "$$"; while :; do sleep 0.05; done`, path)
	command.Stdout = os.Stdout
	fmt.Println(Run(command))
	os.Exit(1)
}

// parent starts the parent and returns it and the process id of its command.
func parent(t *testing.T, lock string) (*exec.Cmd, int) {
	t.Helper()
	g := NewWithT(t)
	self := exec.Command(os.Args[0])
	self.Env = append(os.Environ(), lockVariable+"="+lock)
	out, err := self.StdoutPipe()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(self.Start()).To(Succeed())
	line, err := bufio.NewReader(out).ReadString('\n')
	g.Expect(err).NotTo(HaveOccurred())
	var pid int
	_, err = fmt.Sscan(line, &pid)
	g.Expect(err).NotTo(HaveOccurred(), line)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	return self, pid
}

func TestAKilledProgramTakesItsCommandsWithItAndKeepsItsLockUntilTheyAreGone(t *testing.T) {
	g := NewWithT(t)
	lock := filepath.Join(t.TempDir(), "lock")
	killed, pid := parent(t, lock)
	g.Expect(killed.Process.Kill()).To(Succeed())
	_ = killed.Wait()

	_, free, err := TryLock(lock)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(free).To(Equal(false), "the command is still cleaning up")
	g.Expect(Holders(lock)).To(ContainElement(pid))

	g.Expect(os.WriteFile(lock+".go", nil, 0o644)).To(Succeed())
	g.Eventually(func() bool {
		release, free, err := TryLock(lock)
		if err == nil && free {
			release()
		}
		return free
	}).WithTimeout(10 * time.Second).Should(Equal(true))
	g.Expect(lock + ".cleaned").To(BeARegularFile())
}

func TestALockIsFreeOnceItIsReleased(t *testing.T) {
	g := NewWithT(t)
	lock := filepath.Join(t.TempDir(), "lock")
	release, free, err := TryLock(lock)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(free).To(Equal(true))
	_, again, err := TryLock(lock)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(false))

	// What a command leaves running does not hold what was released.
	daemon := Command(t.Context(), "bash", "-c", `sleep 60 >/dev/null 2>&1 & echo $!`)
	var out strings.Builder
	daemon.Stdout = &out
	g.Expect(Run(daemon)).To(Succeed())
	var pid int
	_, err = fmt.Sscan(out.String(), &pid)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	release()
	release, free, err = TryLock(lock)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(free).To(Equal(true))
	release()
}

func TestACommandThatCannotBeStarted(t *testing.T) {
	g := NewWithT(t)
	g.Expect(Run(Command(t.Context(), filepath.Join(t.TempDir(), "none")))).To(MatchError(os.ErrNotExist))
}
