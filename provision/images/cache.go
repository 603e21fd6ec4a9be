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

// Cache keeps what was built, by the hash of what it was built from. All clones
// on the machine share it. An entry exists whole or not at all: it is made under
// another name and renamed when it is done, so a killed build leaves only a
// half-made folder that nothing reads and the next build of it removes.
//
// A finished entry notes what its files are (see note), and one that has been damaged
// since counts as not there: it is made again.
type Cache struct {
	Dir string
	// ReadOnly leaves the cache as it is: for those who only look.
	ReadOnly bool
	// Damaged hears of each damaged entry that was found, more than once perhaps. Nil
	// where nobody wants to know.
	Damaged func(entry string, how error)
}

// Key is the hash of an entry's inputs; the name of the entry carries its beginning.
type Key struct{ sum string }

func (k Key) String() string { return k.sum }

// Short is enough of the key to tell entries, and images named by it, apart.
func (k Key) Short() string { return k.sum[:16] }

// KeyOf hashes the inputs, in order; each is told apart from its neighbours.
func KeyOf(inputs ...string) Key {
	hash := sha256.New()
	for _, input := range inputs {
		fmt.Fprintf(hash, "%d:%s\n", len(input), input)
	}
	return Key{hex.EncodeToString(hash.Sum(nil))}
}

// FilesIn returns the contents of files below dir as key inputs: every one for
// which keep says so, with its path, in a stable order.
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

// Find returns the folder of the entry of that name and key, if it is whole. files
// are what it must hold, where that is known.
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

// Entry returns the folder of the entry of that name and key, and how long it
// took to make: zero if it was there, whole, with the files that it must hold. Only one process makes an entry at a time;
// another that wants it waits, and is told so through say.
func (c Cache) Entry(ctx context.Context, name string, key Key, say func(string), fill func(ctx context.Context, dir string) error, files ...string) (string, time.Duration, error) {
	return c.make(ctx, name, key, say, fill, false, files)
}

// Replace is Entry, but makes the entry anew where it is there already.
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

// Lock holds a name in the cache until release is called or this process dies.
// Where another process holds it, waiting is called once before the wait.
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

// NoSpace tells whether an error, ours or a child process's, is a full disk.
func NoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || strings.Contains(err.Error(), "no space left on device") ||
		strings.Contains(err.Error(), "No space left on device")
}
