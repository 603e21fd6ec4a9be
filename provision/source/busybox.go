package source

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// takeBusybox copies Debian's static busybox out of a root into dir, with a list of
// its applets. It fails unless the busybox has the version that the learner's files
// name: the image's tag must be true.
func takeBusybox(ctx context.Context, rootTar, dir, ref string) error {
	program := filepath.Join(dir, "busybox")
	if err := extract(rootTar, "bin/busybox", program); err != nil {
		return err
	}
	banner, err := output(ctx, "", nil, program, "--help")
	if err != nil {
		return fmt.Errorf("running the busybox of Debian "+suiteName+": %w", err)
	}
	_, version, _ := strings.Cut(ref, "busybox:")
	if !strings.HasPrefix(string(banner), "BusyBox v"+version+" ") {
		first, _, _ := strings.Cut(string(banner), "\n")
		return fmt.Errorf("the steps' image is %s, but Debian %s has %q", ref, suiteName, first)
	}
	applets, err := output(ctx, "", nil, program, "--list")
	if err != nil {
		return fmt.Errorf("listing busybox's applets: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, "applets"), applets, 0o644)
}

// busyboxFiles are the files of an image of the busybox taken into dir, and nothing else.
func busyboxFiles(dir string) ([]file, error) {
	applets, err := os.ReadFile(filepath.Join(dir, "applets"))
	if err != nil {
		return nil, err
	}
	files := []file{
		{Path: "bin/busybox", From: filepath.Join(dir, "busybox"), Mode: 0o755},
		{Path: "etc/passwd", Text: "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n", Mode: 0o644},
		{Path: "etc/group", Text: "root:x:0:\nnobody:x:65534:\n", Mode: 0o644},
		{Path: "root", Mode: fs.ModeDir | 0o700},
		{Path: "tmp", Mode: fs.ModeDir | 0o777},
	}
	for _, applet := range strings.Fields(string(applets)) {
		if applet != "busybox" {
			files = append(files, file{Path: "bin/" + applet, Link: "busybox"})
		}
	}
	return files, nil
}

// extract copies one file, named without the leading ./ or usr/, out of a tar.
func extract(tarFile, name, to string) (err error) {
	in, err := os.Open(tarFile)
	if err != nil {
		return err
	}
	defer in.Close()
	for reader := tar.NewReader(in); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("no %s in %s", name, tarFile)
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", tarFile, err)
		}
		found := strings.TrimPrefix(strings.TrimPrefix(header.Name, "./"), "usr/")
		if found != name || header.Typeflag != tar.TypeReg {
			continue
		}
		out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, reader)
		return errors.Join(err, out.Close())
	}
}
