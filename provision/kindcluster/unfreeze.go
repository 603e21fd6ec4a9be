package kindcluster

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// freezer is the freezer of a cgroup v1 host. cgroup v2 has none and can kill frozen
// processes.
const freezer = "/sys/fs/cgroup/freezer"

// unfreeze unfreezes the cgroups of a container. runc freezes a pod for a moment to
// change its limits. A node killed in that moment leaves a process that no signal can
// end, and a container that cannot be removed.
func unfreeze(root, container string) error {
	var failed []error
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // no freezer here, or a cgroup that has just gone
		}
		if err != nil || filepath.Base(path) != "freezer.state" || !strings.Contains(path, container) {
			return err
		}
		if state, err := os.ReadFile(path); err == nil && strings.TrimSpace(string(state)) != "THAWED" {
			if err := os.WriteFile(path, []byte("THAWED"), 0o644); err != nil && !errors.Is(err, fs.ErrNotExist) {
				failed = append(failed, err)
			}
		}
		return nil
	})
	return errors.Join(append(failed, err)...)
}
