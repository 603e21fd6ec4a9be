package provision

import (
	"archive/tar"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// probeImage is made from this program, tried once and removed.
const probeImage = "localhost/lab-probe:1"

// runPrivileged shows that the engine runs a privileged container, by running one.
func runPrivileged(ctx context.Context, e engine) (err error) {
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
	if _, err := e.run(ctx, "import", root, probeImage); err != nil {
		return err
	}
	defer func() {
		if _, failed := e.run(context.WithoutCancel(ctx), "rmi", "--force", probeImage); err == nil {
			err = failed
		}
	}()
	// Detached: in the foreground Podman waits for its monitor process to be
	// reaped, which takes 20 s where PID 1 is slow to reap.
	name := fmt.Sprintf("lab-probe-%d", os.Getpid())
	if _, err := e.run(ctx, "run", "--detach", "--name", name, "--privileged", "--network", "none", "--entrypoint", "/lab", probeImage, "--version"); err != nil {
		return err
	}
	defer func() {
		if _, failed := e.run(context.WithoutCancel(ctx), "rm", "--force", name); err == nil {
			err = failed
		}
	}()
	return waitFor(ctx, "the container to print what it was told to", func(ctx context.Context) error {
		if said, err := e.run(ctx, "logs", name); err != nil || said+"\n" != want {
			return notYetf("it printed %q (%v)", said, err)
		}
		return nil
	})
}

// isStatic tells whether a program runs where there is no C library.
func isStatic(program string) error {
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
