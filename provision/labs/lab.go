// Package labs keeps the files that describe this machine's labs: records, locks, and
// the mark of what is ours.
package labs

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/process"
	"gsb.test/jobset-e2e/provision/source"
)

// DefaultName is the lab's name if LAB_NAME is empty.
const DefaultName = "gsb-jobset"

// Lab is one lab on this machine: its name, its checkout, and the files that describe
// it to other runs.
type Lab struct {
	// Name is the name of the kind cluster and of its network.
	Name string
	// Checkout is the folder of this repository.
	Checkout string
	// Folder is the project's folder in the user's cache: images, Podman's storage, the
	// list of labs.
	Folder string
	// Pins are the versions, names and numbers of the lab text.
	Pins fixtures.Pins
	// Unfinished, if set, records what is being done to the lab.
	Unfinished *Unfinished
	// Keep keeps a lab that failed to come up.
	Keep bool
}

// A name becomes part of host names, and of the node's, which has at most 63 bytes.
var nameRule = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$`)

// reserved are names of networks that the engines or kind make themselves.
var reserved = []string{"bridge", "container", "default", "host", "ingress", "kind", "nat", "none", "ns", "pasta", "podman", "private", "slirp4netns"}

// New returns a lab of the checkout around the working directory, with the user's
// cache folder.
func New(pins fixtures.Pins, name string) (*Lab, error) {
	if name == "" {
		name = DefaultName
	}
	if !nameRule.MatchString(name) {
		return nil, fmt.Errorf("LAB_NAME is %q; a lab's name is up to 40 small letters, digits and hyphens, such as %s", name, DefaultName)
	}
	if slices.Contains(reserved, name) {
		return nil, fmt.Errorf("LAB_NAME is %q, which the container engines or kind keep for a network of their own; take another, such as LAB_NAME=%s-%s", name, DefaultName, name)
	}
	checkout, err := source.FindCheckout()
	if err != nil {
		return nil, err
	}
	cache, err := userCache()
	if err != nil {
		return nil, fmt.Errorf("no place for the image cache: %w (set HOME or XDG_CACHE_HOME)", err)
	}
	return &Lab{Name: name, Checkout: checkout, Folder: filepath.Join(cache, "gsb-jobset"), Pins: pins}, nil
}

// userCache is the user's cache folder. XDG_CACHE_HOME moves it on every system; Go
// reads that on Linux only.
func userCache() (string, error) {
	if folder := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(folder) {
		return folder, nil
	}
	return os.UserCacheDir()
}

// Kubeconfig is the lab's own kubeconfig file.
func (l *Lab) Kubeconfig() string {
	return filepath.Join(l.Checkout, ".lab", l.Name+".kubeconfig")
}

// Record says who owns a lab, or whose run locks it.
type Record struct {
	Checkout string    `json:"checkout"`
	PID      int       `json:"pid"`
	Since    time.Time `json:"since"`
	// Engine is the container engine of the lab; empty in the record of a lock.
	Engine string `json:"engine,omitempty"`
}

// PodmanFolder is the folder of our own Podman storage.
func (l *Lab) PodmanFolder() string { return filepath.Join(l.Folder, "podman") }

func (l *Lab) RecordFile() string   { return filepath.Join(l.Folder, "labs", l.Name+".json") }
func (l *Lab) EgressFolder() string { return filepath.Join(l.Folder, "labs", l.Name+".seal") }
func (l *Lab) lockFile() string     { return filepath.Join(l.Folder, "labs", l.Name+".lock") }

func ReadRecord(path string) (Record, bool) {
	var r Record
	content, err := os.ReadFile(path)
	return r, err == nil && json.Unmarshal(content, &r) == nil
}

func (l *Lab) WriteRecord(path, engine string) error {
	content, err := json.Marshal(Record{l.Checkout, os.Getpid(), time.Now(), engine})
	if err == nil {
		err = os.WriteFile(path, content, 0o644)
	}
	if err != nil {
		return fmt.Errorf("noting the lab: %w", err)
	}
	return nil
}

// Lock makes sure that nobody else works on this lab and that no other checkout owns
// it. The lock lasts until release is called or the process dies.
func (l *Lab) Lock() (release func(), err error) {
	if err := os.MkdirAll(filepath.Dir(l.lockFile()), 0o755); err != nil {
		return nil, fmt.Errorf("making the list of labs: %w (XDG_CACHE_HOME=/a/folder/with/room moves it)", err)
	}
	release, free, err := process.TryLock(l.lockFile())
	if err != nil {
		return nil, fmt.Errorf("locking the lab's name: %w", err)
	}
	if !free {
		return nil, l.inUse()
	}
	if owner, known := ReadRecord(l.RecordFile()); known && owner.Checkout != l.Checkout && Exists(owner.Checkout) {
		release()
		return nil, fmt.Errorf("the lab %s belongs to %s:\nremove it there (cd %s && make down), or take another name: LAB_NAME=%s-2 make e2e",
			l.Name, owner.Checkout, owner.Checkout, l.Name)
	}
	if err := l.WriteRecord(l.lockFile(), ""); err != nil {
		release()
		return nil, err
	}
	return release, nil
}

// inUse says who locks the lab. If that process was killed, the commands it ran keep
// the lock until they end.
func (l *Lab) inUse() error {
	by, _ := ReadRecord(l.lockFile())
	text := fmt.Sprintf("the lab %s is in use by process %d from %s, since %s", l.Name, by.PID, by.Checkout, by.Since.Format(time.Kitchen))
	if holders := process.Holders(l.lockFile()); len(holders) > 0 && !slices.Contains(holders, by.PID) {
		text += fmt.Sprintf("; that was killed, and what it ran is still ending (process %s)", strings.Trim(fmt.Sprint(holders), "[]"))
	}
	return fmt.Errorf("%s:\nwait for it to end, or take another name: LAB_NAME=%s-2 make e2e", text, l.Name)
}

// RemoveState removes the files of a lab that is gone. A kubeconfig of a lab without a
// record belongs to a lab of another cache folder, and is kept.
func (l *Lab) RemoveState() error {
	var files []string
	if Exists(l.RecordFile()) {
		files = []string{l.Kubeconfig(), l.Kubeconfig() + ".lock", l.RecordFile()}
	}
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return os.RemoveAll(l.EgressFolder())
}

func Exists(folder string) bool {
	_, err := os.Stat(folder)
	return err == nil
}
