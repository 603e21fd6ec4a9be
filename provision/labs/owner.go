package labs

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

func (l *Lab) ownerFile() string { return filepath.Join(l.Folder, "owner") }

// Owner is the id of this cache folder; empty if nothing was ever made from it.
func (l *Lab) Owner() (string, error) {
	content, err := os.ReadFile(l.ownerFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading the mark of what is ours: %w", err)
	}
	return strings.TrimSpace(string(content)), nil
}

// EnsureOwner is the id of this cache folder, which gets one if it has none. Two runs
// at the same time get the same one.
func (l *Lab) EnsureOwner() (id string, err error) {
	if id, err = l.Owner(); err != nil || id != "" {
		return id, err
	}
	if err := os.MkdirAll(l.Folder, 0o755); err != nil {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	whole, err := os.CreateTemp(l.Folder, "owner-")
	if err != nil {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	defer func() { _ = os.Remove(whole.Name()) }()
	_, err = whole.WriteString(rand.Text() + "\n")
	if err := errors.Join(err, whole.Close()); err != nil {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	if err := os.Link(whole.Name(), l.ownerFile()); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("writing the mark of what is ours: %w", err)
	}
	if id, err = l.Owner(); err == nil && id == "" {
		err = fmt.Errorf("%s is empty, so nothing can be marked as ours: rm %s", l.ownerFile(), l.ownerFile())
	}
	return id, err
}

// MadeBy names the user, host and folder of a lab, for people.
func (l *Lab) MadeBy() string {
	who := "somebody"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, _ := os.Hostname() // the folder is enough
	return fmt.Sprintf("%s on %s in %s", who, host, l.Checkout)
}
