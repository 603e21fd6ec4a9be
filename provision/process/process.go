// Package process runs long-running programs. None of them outlives this one, and a
// lock of this one is not free before they have ended.
package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// Command is a program in its own process group, so that the terminal's Ctrl-C does
// not reach it before this one. On Linux it gets a SIGTERM when this program dies, of
// a SIGKILL included. Start it by Run.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, name, args...)
	command.SysProcAttr = endsWithUs()
	command.ExtraFiles = locks.files()
	return command
}

// starter runs functions on one thread that lives as long as this program: the kernel
// takes the end of the thread that started a program for the end of its parent.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range work {
			do()
		}
	}()
	return work
})

// Run starts a Command and waits for its end, as its own Run does.
func Run(command *exec.Cmd) error {
	started := make(chan error)
	starter() <- func() { started <- command.Start() }
	if err := <-started; err != nil {
		return err
	}
	return command.Wait()
}

// held are the files of the locks of this program. A Command inherits them, and the
// kernel frees a lock only when nobody has its file open.
type held struct {
	mu   sync.Mutex
	open []*os.File
}

var locks held

func (h *held) files() []*os.File {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.open)
}

func (h *held) add(file *os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = append(h.open, file)
}

func (h *held) remove(file *os.File) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.open = slices.DeleteFunc(h.open, func(other *os.File) bool { return other == file })
}

// TryLock locks a file, which it creates if needed. It fails if another process, or a
// Command of a killed one, has the lock. The lock lasts until release is called, or
// this program and all its Commands have ended.
func TryLock(path string) (release func(), free bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, err
	}
	switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err { //nolint:errorlint // a bare errno
	case nil:
	case unix.EWOULDBLOCK:
		return nil, false, file.Close()
	default:
		file.Close()
		return nil, false, fmt.Errorf("locking %s: %w", path, err)
	}
	locks.add(file)
	return func() {
		locks.remove(file)
		// A daemon left by a command may still have the file open.
		_ = unix.Flock(int(file.Fd()), unix.LOCK_UN)
		file.Close()
	}, true, nil
}
