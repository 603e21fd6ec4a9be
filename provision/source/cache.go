package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// Cache keeps what was built, by the hash of what it was built from. All clones
// on the machine share it. An entry exists whole or not at all: it is made under
// another name and renamed when it is done, so a killed build leaves only a
// half-made folder that nothing reads and the next build of it removes.
type Cache struct {
	Dir string
}

// key is the hash of an entry's inputs; the name of the entry carries its beginning.
type key struct{ sum string }

// keyOf hashes the inputs, in order; each is told apart from its neighbours.
func keyOf(inputs ...string) key {
	hash := sha256.New()
	for _, input := range inputs {
		fmt.Fprintf(hash, "%d:%s\n", len(input), input)
	}
	return key{hex.EncodeToString(hash.Sum(nil))}
}

// filesIn returns the contents of files below dir as key inputs: every one for
// which keep says so, with its path, in a stable order.
func filesIn(dir string, keep func(path string) bool) ([]string, error) {
	var inputs []string
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !keep(path) {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		inputs = append(inputs, relative, string(content))
		return err
	})
	return inputs, err
}

// Entry returns the folder of the entry of that name and key, and how long it
// took to make: zero if it was there. Only one process makes an entry at a time;
// another that wants it waits, and is told so through say.
func (c Cache) Entry(ctx context.Context, name string, key key, say func(string), fill func(ctx context.Context, dir string) error) (string, time.Duration, error) {
	done := filepath.Join(c.Dir, name+"-"+key.sum[:16])
	if isDir(done) {
		return done, 0, nil
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return "", 0, fmt.Errorf("the image cache cannot be made: %w (XDG_CACHE_HOME=/a/folder/with/room moves it)", err)
	}
	lock := flock.New(done + ".lock") // the kernel drops it when its holder dies
	defer lock.Close()
	if free, err := lock.TryLock(); err != nil {
		return "", 0, fmt.Errorf("locking the cache entry for %s: %w", name, err)
	} else if !free {
		say("waiting for another run to build " + name)
		if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
			return "", 0, fmt.Errorf("waiting for another run to build %s: %w", name, err)
		}
	}
	if isDir(done) { // made by whoever held the lock
		return done, 0, nil
	}
	half := done + ".half"
	if err := os.RemoveAll(half); err != nil {
		return "", 0, fmt.Errorf("removing what a killed build left: %w", err)
	}
	if err := os.Mkdir(half, 0o755); err != nil {
		return "", 0, fmt.Errorf("making the cache entry for %s: %w", name, err)
	}
	began := time.Now()
	if err := fill(ctx, half); err != nil {
		if noSpace(err) {
			err = fmt.Errorf("%w\n   the disk of %s is full; free some and run again (entries of older versions lie there too; any may be deleted)", err, c.Dir)
		}
		return "", 0, errors.Join(fmt.Errorf("building %s: %w", name, err), os.RemoveAll(half))
	}
	if err := os.Rename(half, done); err != nil {
		return "", 0, fmt.Errorf("finishing the cache entry for %s: %w", name, err)
	}
	return done, time.Since(began), nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
