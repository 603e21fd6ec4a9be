package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/install"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/poll"
	"gsb.test/jobset-e2e/provision/progress"
)

// afterFailure saves the node's logs and removes the cluster, unless it is to be kept.
func afterFailure(ctx context.Context, l *labs.Lab, m *bringUp, failure error) error {
	if m.kind == nil { // no cluster of ours was begun
		return failure
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), kindcluster.RemoveTimeout)
	defer cancel()
	if !errors.Is(failure, context.Canceled) {
		failure = fmt.Errorf("%w\n   %s", failure, nodeLogs(ctx, l, m.kind))
	}
	if l.Keep {
		l.Unfinished.Finish()
		return &keptError{failure, "the cluster is kept, as KEEP=1 says; remove it with: make down"}
	}
	if m.existed {
		return &keptError{failure, "the lab existed before and is kept as it is; to make it again: make down up"}
	}
	line := m.list.Start("removed")
	err := remove(ctx, l, m.engine)
	line.End("the incomplete cluster "+l.Name, err)
	return errors.Join(failure, err)
}

// nodeLogs saves the node's logs and returns where they are.
func nodeLogs(ctx context.Context, l *labs.Lab, k *kindcluster.Cluster) string {
	found, err := poll.Within(ctx, kindcluster.GatheringLogs, func() (kindcluster.Survey, error) { return k.Survey(ctx) })
	if err != nil || len(found.Containers) == 0 || found.Foreign != nil {
		return "there is no node of ours to take logs from"
	}
	reports := os.Getenv("LAB_REPORTS")
	if reports == "" {
		reports = filepath.Join(l.Checkout, ".lab")
	}
	folder := filepath.Join(reports, "evidence", "node")
	_, err = poll.Within(ctx, kindcluster.GatheringLogs, func() (string, error) { return folder, k.ExportLogs(ctx, folder) })
	if err != nil {
		return fmt.Sprintf("the node's logs are in %s, not all of them: %s", folder, engine.FirstLine(err))
	}
	return "the node's logs are in " + folder
}

// Down removes the lab and everything that was made for it, complete or not.
func Down(ctx context.Context, l *labs.Lab) error {
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	if err := refuseInUse(ctx, l); err != nil {
		return err
	}
	return down(ctx, l)
}

// down does not stop once it has begun to remove: half a lab is of no use.
func down(ctx context.Context, l *labs.Lab) error {
	list := progress.New(os.Stdout)
	defer list.Close()
	line := list.Start("removed")
	ctx, cancel := context.WithTimeout(ctx, kindcluster.RemoveTimeout)
	defer cancel()
	engine, err := chooseEngine(ctx, l, l.Folder)
	if err == nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), kindcluster.RemoveTimeout)
		defer cancel()
		err = remove(ctx, l, engine)
	}
	line.End("the lab "+l.Name+": cluster, network, volume, kubeconfig", err)
	return err
}

// remove removes what is ours of the lab. An object of the lab's name that is not ours
// is left and becomes the error, after everything else is gone.
func remove(ctx context.Context, l *labs.Lab, e engine.Engine) (err error) {
	var refused *kindcluster.Foreign
	defer func() {
		if err == nil && refused != nil {
			err = refused
		} else if err != nil {
			err = fmt.Errorf("%w: %w", kindcluster.ErrNotRemoved, err)
		}
	}()
	if err := e.Use(l.Name, l.PodmanFolder()); err != nil {
		return err
	}
	k, err := cluster(l, e)
	if err != nil {
		return err
	}
	l.Unfinished.Begin(l.Name, "removed")
	// An engine that is still working on the container may refuse once.
	if err := poll.For(ctx, "the engine to remove the cluster", func(ctx context.Context) error {
		if err := k.Destroy(ctx); err != nil && !errors.As(err, &refused) {
			return poll.Pendingf("%v", err)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := l.RemoveState(); err != nil {
		return err
	}
	l.Unfinished.Finish()
	if labs, err := filepath.Glob(filepath.Join(l.Folder, "labs", "*.json")); err == nil && len(labs) == 0 && e.Name == "podman" {
		// Podman leaves its storage mounted on itself. While another run uses it, this fails
		// and that run unmounts it.
		_ = unix.Unmount(filepath.Join(l.PodmanFolder(), "storage", "overlay"), 0)
	}
	return nil
}

// refuseInUse is an error while a run uses the lab, of which only the kubeconfig is
// known.
func refuseInUse(ctx context.Context, l *labs.Lab) error {
	if !labs.Exists(l.Kubeconfig()) {
		return nil
	}
	cluster, err := install.Connect(l.Kubeconfig(), l.Pins)
	if err != nil {
		return nil //nolint:nilerr // a kubeconfig that cannot be read leads to no run
	}
	return cluster.RefuseInUse(ctx, l.Name)
}
