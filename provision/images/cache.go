package images

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Cache keeps what was built, by the hash of its inputs. All clones on the machine
// share it. An entry is complete or absent: it is made under another name and renamed
// when it is done. A killed build leaves only an incomplete folder, which nothing
// reads and the next build removes.
//
// A finished entry has a note of its files (see note). A damaged entry counts as
// absent and is made again.
type Cache struct {
	Dir string
	// ReadOnly leaves the cache unchanged.
	ReadOnly bool
	// Damaged, if set, is called with each damaged entry, perhaps more than once.
	Damaged func(entry string, how error)
}

// Key is the hash of an entry's inputs; the name of the entry carries its beginning.
type Key struct{ sum string }

func (k Key) String() string { return k.sum }

// Short is enough of the key to distinguish entries and images.
func (k Key) Short() string { return k.sum[:16] }

// KeyOf hashes the inputs, in order and separated.
func KeyOf(inputs ...string) Key {
	hash := sha256.New()
	for _, input := range inputs {
		fmt.Fprintf(hash, "%d:%s\n", len(input), input)
	}
	return Key{hex.EncodeToString(hash.Sum(nil))}
}

// FilesIn returns the contents of the files below dir that keep selects, as key
// inputs, with their paths and in a stable order.
func FilesIn(dir string, keep func(path string) bool) ([]string, error) {
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

// Find returns the folder of an entry if it is complete. files are what it must hold,
// if known.
func (c Cache) Find(ctx context.Context, name string, key Key, files ...string) (dir string, whole bool) {
	dir = filepath.Join(c.Dir, name+"-"+key.Short())
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return dir, false
	}
	err := c.intact(ctx, dir, files)
	if err != nil && ctx.Err() == nil && c.Damaged != nil {
		c.Damaged(filepath.Base(dir), err)
	}
	return dir, err == nil
}

// Entry returns the folder of an entry, and how long it took to make: zero if it was
// there, complete, with its files. Only one process makes an entry at a time; another
// one waits, and says so through say.
func (c Cache) Entry(ctx context.Context, name string, key Key, say func(string), fill func(ctx context.Context, dir string) error, files ...string) (string, time.Duration, error) {
	return c.make(ctx, name, key, say, fill, false, files)
}

// Replace is Entry, but makes an existing entry again.
func (c Cache) Replace(ctx context.Context, name string, key Key, say func(string), fill func(ctx context.Context, dir string) error) (string, error) {
	dir, _, err := c.make(ctx, name, key, say, fill, true, nil)
	return dir, err
}

func (c Cache) make(ctx context.Context, name string, key Key, say func(string), fill func(ctx context.Context, dir string) error, anew bool, files []string) (string, time.Duration, error) {
	done := filepath.Join(c.Dir, name+"-"+key.Short())
	if !anew {
		if _, whole := c.Find(ctx, name, key, files...); whole {
			return done, 0, nil
		}
	}
	release, err := c.Lock(ctx, filepath.Base(done), func() { say("waiting for another run to build " + name) })
	if err != nil {
		return "", 0, err
	}
	defer release()
	if !anew {
		if _, whole := c.Find(ctx, name, key, files...); whole { // made by whoever held the lock
			return done, 0, nil
		}
	}
	half := done + ".half"
	if err := os.RemoveAll(half); err != nil {
		return "", 0, fmt.Errorf("removing what a killed build left: %w", err)
	}
	if err := os.Mkdir(half, 0o755); err != nil {
		return "", 0, fmt.Errorf("making the cache entry for %s: %w", name, err)
	}
	began := time.Now()
	err = fill(ctx, half)
	if err == nil {
		err = takeNote(ctx, half)
	}
	if err != nil {
		if NoSpace(err) {
			err = fmt.Errorf("%w\n   the disk of %s is full; free some and run again (entries of older versions lie there too; any may be deleted)", err, c.Dir)
		}
		return "", 0, errors.Join(fmt.Errorf("%s: %w", name, err), os.RemoveAll(half))
	}
	if err := os.RemoveAll(done); err != nil {
		return "", 0, fmt.Errorf("removing the cache entry for %s: %w", name, err)
	}
	if err := os.Rename(half, done); err != nil {
		return "", 0, fmt.Errorf("finishing the cache entry for %s: %w", name, err)
	}
	return done, time.Since(began), nil
}

// Lock locks a name in the cache until release is called or this process dies. waiting
// is called once if another process has the lock.
func (c Cache) Lock(ctx context.Context, name string, waiting func()) (release func(), err error) {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return nil, fmt.Errorf("the image cache cannot be made: %w (XDG_CACHE_HOME=/a/folder/with/room moves it)", err)
	}
	lock := flock.New(filepath.Join(c.Dir, name+".lock")) // the kernel drops it when its holder dies
	free, err := lock.TryLock()
	if err == nil && !free {
		waiting()
		_, err = lock.TryLockContext(ctx, 200*time.Millisecond)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for %s in the image cache: %w", name, err), lock.Close())
	}
	return func() { _ = lock.Close() }, nil
}

// NoSpace reports whether an error, ours or a child process's, is a full disk.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "no space left on device") ||
		strings.Contains(err.Error(), "No space left on device")
}
