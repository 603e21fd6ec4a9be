package engine

import (
	"archive/tar"
	"context"
	"crypto/rand"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gsb.test/jobset-e2e/provision/poll"
)

// runPrivileged runs a privileged container. Its name and image name are random, so
// they are nobody else's.
func runPrivileged(ctx context.Context, e Engine) (err error) {
	folder, err := os.MkdirTemp("", "lab-probe-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	self, want, err := probeProgram(ctx, folder)
	if err != nil {
		return err
	}
	root := filepath.Join(folder, "root.tar")
	if err := tarOne(self, "lab", root); err != nil {
		return err
	}
	name := "lab-probe-" + strings.ToLower(rand.Text())
	image := "localhost/" + name + ":1"
	clean := func(args ...string) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		// After a failure there may be nothing to remove.
		if _, failed := e.Run(bounded, args...); err == nil {
			err = failed
		}
	}
	defer clean("rmi", "--force", image)
	if _, err := e.Run(ctx, "import", root, image); err != nil {
		return err
	}
	// A container that could not be started exists all the same.
	defer clean("rm", "--force", name)
	// Detached: in the foreground Podman waits for its monitor process to be
	// reaped, which takes 20 s where PID 1 is slow to reap.
	if _, err := e.Run(ctx, "run", "--detach", "--name", name, "--privileged", "--network", "none", "--entrypoint", "/lab", image, "--version"); err != nil {
		return err
	}
	return poll.For(ctx, "the container to print its line", func(ctx context.Context) error {
		if output, err := e.Run(ctx, "logs", name); err != nil || output+"\n" != want {
			return poll.Pendingf("it printed %q (%v)", output, err)
		}
		return nil
	})
}

// IsStatic is an error if a program needs a C library.
func IsStatic(program string) error {
	file, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer file.Close()
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return fmt.Errorf("%s is not static, so no bare container can run it: build it as make does, with CGO_ENABLED=0", program)
		}
	}
	return nil
}

// tarOne writes a tar of one executable file.
func tarOne(from, name, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	archive := tar.NewWriter(out)
	if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	if _, err := io.Copy(archive, in); err != nil {
		return err
	}
	return archive.Close()
}
