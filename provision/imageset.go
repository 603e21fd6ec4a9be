package provision

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"gsb.test/jobset-e2e/provision/source"
)

// Room that building and loading an image set takes, in bytes: with Go's build
// cache and module cache when nothing is cached yet, and for a cached one.
const (
	roomToBuild = 12 << 30
	roomToRun   = 4 << 30
)

// podman is the folder of our own Podman storage.
func (l *Lab) podman() string { return filepath.Join(l.Folder, "podman") }

// builder builds this checkout's image set from source.
func (l *Lab) builder(say func(string)) source.Builder {
	return source.Builder{Checkout: l.Checkout, Cache: source.Cache{Dir: filepath.Join(l.Folder, "images")}, Say: say}
}

// images gets the image set and loads its node image into the engine.
func (m *making) images(ctx context.Context, say func(string)) (string, error) {
	set, spent, err := m.lab.builder(say).Build(ctx)
	if err != nil {
		return "", err
	}
	m.set = set
	said := "from the cache"
	if len(spent) > 0 {
		var parts []string
		for _, part := range spent {
			parts = append(parts, fmt.Sprintf("%s %s", part.Part, part.Took.Round(time.Second)))
		}
		said = "built: " + strings.Join(parts, ", ")
	}
	if err := m.engine.use(m.lab.Name, m.lab.podman()); err != nil {
		return "", err
	}
	if _, err := m.engine.run(ctx, "image", "inspect", "--format", "{{.Id}}", set.Node); err != nil {
		say("loading the node image into " + m.engine.name)
		if _, err := m.engine.run(ctx, "load", "--quiet", "--input", set.Archive); err != nil {
			return "", fmt.Errorf("loading the node image: %w", err)
		}
		said += ", loaded"
	}
	note, err := footnote(set)
	if err != nil {
		return "", err
	}
	if note != "" {
		note = " *"
	}
	return fmt.Sprintf("%s (%s, k8s %s, JobSet %s%s)", said, set.Origin, set.Kubernetes, set.JobSet, note), nil
}

// freeBytes is how much an ordinary user can still write below folder.
func freeBytes(folder string) (uint64, error) {
	var stat unix.Statfs_t
	for ; ; folder = filepath.Dir(folder) {
		err := unix.Statfs(folder, &stat)
		if err == nil {
			return stat.Bavail * uint64(stat.Bsize), nil //nolint:gosec // a block size is positive
		}
		if err != unix.ENOENT || folder == filepath.Dir(folder) {
			return 0, fmt.Errorf("looking for free disk in %s: %w", folder, err)
		}
	}
}
