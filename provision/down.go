package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// afterFailure keeps what the node knew, and removes it unless it is to be kept.
func (l *Lab) afterFailure(ctx context.Context, m *bringUp, failure error) error {
	if m.kind == nil { // no cluster of ours was begun
		return failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removing)
	defer cancel()
	if !errors.Is(failure, context.Canceled) {
		failure = fmt.Errorf("%w\n   %s", failure, l.nodeLogs(ctx, m.kind))
	}
	if l.Keep {
		l.Unfinished.finish()
		return &standing{failure, "the cluster stands, as KEEP=1 asks; remove it with: make down"}
	}
	if m.existed {
		return &standing{failure, "the lab stood before and is left as it is; to begin anew: make down up"}
	}
	line := m.list.start("removed")
	err := l.remove(ctx, m.engine)
	line.end("the half-made cluster "+l.Name, err)
	return errors.Join(failure, err)
}

// nodeLogs keeps what the node knew and says where it lies.
func (l *Lab) nodeLogs(ctx context.Context, k *kindCluster) string {
	found, err := within(ctx, gatheringLogs, func() (survey, error) { return k.survey(ctx) })
	if err != nil || len(found.containers) == 0 || found.foreign != nil {
		return "there is no node of ours to take logs from"
	}
	reports := os.Getenv("LAB_REPORTS")
	if reports == "" {
		reports = filepath.Join(l.Checkout, ".lab")
	}
	folder := filepath.Join(reports, "evidence", "node")
	_, err = within(ctx, gatheringLogs, func() (string, error) { return folder, k.ExportLogs(ctx, folder) })
	if err != nil {
		return fmt.Sprintf("the node's logs are in %s, not all of them: %s", folder, firstLine(err))
	}
	return "the node's logs are in " + folder
}

const (
	// removing bounds a clean-up: no call of it may hang a Ctrl-C for longer.
	removing = 2 * time.Minute
	// gatheringLogs bounds what is gathered before it. It takes some seconds.
	gatheringLogs = 30 * time.Second
)

// within runs what knows no context, as kind's library does, for as long as ctx
// lasts and no longer than a time. What is not done then goes on unheeded.
func within[T any](ctx context.Context, limit time.Duration, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := do()
		done <- result{value, err}
	}()
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case got := <-done:
		return got.value, got.err
	case <-bounded.Done():
		var none T
		return none, fmt.Errorf("it took longer than %s, or was interrupted: %w", limit, bounded.Err())
	}
}

// Down removes the lab and all that was made for it, however much of it there is.
func (l *Lab) Down(ctx context.Context) error {
	release, err := l.lock()
	if err != nil {
		return err
	}
	defer release()
	if err := l.refuseInUse(ctx); err != nil {
		return err
	}
	return l.down(ctx)
}

// down goes on to its end once it has begun to remove: half a lab helps nobody.
func (l *Lab) down(ctx context.Context) error {
	told := newProgress(os.Stdout)
	defer told.close()
	line := told.start("removed")
	ctx, cancel := context.WithTimeout(ctx, removing)
	defer cancel()
	engine, err := l.chooseEngine(ctx, l.Folder)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removing)
		defer cancel()
		err = l.remove(ctx, engine)
	}
	line.end("the lab "+l.Name+": cluster, network, volume, kubeconfig", err)
	return err
}

// ErrNotRemoved is in the error when something of a lab could not be removed.
var ErrNotRemoved = errors.New("the lab could not be removed; run make down again, and if that fails too, see what it says")

// remove removes what is ours of the lab. What has its name and is not ours stays,
// and is the error when all else is gone.
func (l *Lab) remove(ctx context.Context, e engine) (err error) {
	var refused *foreign
	defer func() {
		if err == nil && refused != nil {
			err = refused
		} else if err != nil {
			err = fmt.Errorf("%w: %w", ErrNotRemoved, err)
		}
	}()
	if err := e.use(l.Name, l.podman()); err != nil {
		return err
	}
	k, err := l.cluster(e)
	if err != nil {
		return err
	}
	l.Unfinished.begin(l.Name, "removed")
	// An engine that is asked while it still works on the container may refuse once.
	if err := waitFor(ctx, "the engine to remove the cluster", func(ctx context.Context) error {
		if err := k.Destroy(ctx); err != nil && !errors.As(err, &refused) {
			return pendingf("%v", err)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := l.removeState(); err != nil {
		return err
	}
	l.Unfinished.finish()
	if labs, err := filepath.Glob(filepath.Join(l.Folder, "labs", "*.json")); err == nil && len(labs) == 0 && e.name == "podman" {
		// Podman mounts its storage on itself and leaves it so. Where another run
		// uses it this fails, and that run does it.
		_ = unix.Unmount(filepath.Join(l.podman(), "storage", "overlay"), 0)
	}
	return nil
}
