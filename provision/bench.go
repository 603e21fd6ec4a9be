package provision

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/install"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/poll"
	"gsb.test/jobset-e2e/provision/progress"
)

// measured is what Bench measures, in seconds. A lab is ready when its queues are
// Active; its time begins with kind's, so the images are not in it.
type measured struct {
	Plain float64 `json:"plain"` // both manifests are applied at once, and both managers waited for
	Ready float64 `json:"ready"` // our way
	// E2E is our way whole, with the command and the removal of the lab.
	E2E float64 `json:"e2e"`
	// CPU is the processor time of E2E, the node's and that of the programs started here.
	CPU float64 `json:"cpu"`
	// Restart is from the restart of the node until what ran before runs again.
	Restart float64 `json:"restart"`
}

// Bench makes a lab twice under a name of its own, the plain way and ours, from the
// same images and with the same kind configuration. In ours it runs a command, and then
// restarts the node. The last line that it prints is JSON.
func Bench(ctx context.Context, l *labs.Lab, args []string) error {
	l = &labs.Lab{Name: l.Name + "-bench", Checkout: l.Checkout, Folder: l.Folder, Pins: l.Pins, Unfinished: l.Unfinished}
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	var result measured
	_, err = withLab(ctx, l, true, func(_ *bringUp, ready time.Duration) error {
		result.Plain = ready.Seconds()
		return nil
	})
	if err != nil {
		return err
	}
	began, before := time.Now(), processorTime()
	removed, err := withLab(ctx, l, false, func(m *bringUp, ready time.Duration) error {
		reports := filepath.Join(l.Checkout, ".lab", l.Name)
		err := command(ctx, l, args, "LAB_REPORTS="+reports, "LAB_WORKDIR="+filepath.Join(reports, "gsb-jobset"))
		if err != nil && !exitPartial(err) {
			return err
		}
		result.Ready, result.E2E, result.CPU = ready.Seconds(), time.Since(began).Seconds(), (processorTime() - before).Seconds()
		node, err := m.kind.ProcessorTime(ctx)
		result.CPU += node.Seconds()
		if err != nil {
			return err
		}
		began := time.Now()
		err = m.step("restart", m.restart)(ctx)
		result.Restart = time.Since(began).Seconds()
		return err
	})
	result.E2E += removed.Seconds()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// withLab makes the lab, the plain way or ours, calls use with the time until it was
// ready, and removes it. It returns how long that took.
func withLab(ctx context.Context, l *labs.Lab, plain bool, use func(*bringUp, time.Duration) error) (removed time.Duration, err error) {
	list := progress.New(os.Stdout)
	defer list.Close()
	m := &bringUp{lab: l, sets: &imageset.Resolver{Lab: l}, list: list, plain: plain}
	rest := m.controllers
	if plain {
		rest = m.plainly
	}
	if err := inOrder(ctx, m.step("host", m.host), m.step("images", m.images)); err != nil {
		return 0, err
	}
	if err := remove(ctx, l, m.engine); err != nil {
		return 0, err
	}
	defer func() {
		began := time.Now()
		err = errors.Join(err, remove(context.WithoutCancel(ctx), l, m.engine))
		removed = time.Since(began)
	}()
	began := time.Now()
	if err := inOrder(ctx, append([]step{m.step("cluster", m.cluster)}, rest()...)...); err != nil {
		return 0, err
	}
	return 0, use(m, time.Since(began))
}

// plainly installs as the installation pages say: apply, then wait.
func (m *bringUp) plainly() []step {
	controllers := func(ctx context.Context, say func(string)) (string, error) {
		say("waiting for both rollouts and webhooks")
		return install.Plain(ctx, m.clients, m.set)
	}
	return []step{m.step("GPUs", m.ensure(install.GPUs)), m.step("the plain way", controllers), m.step("queues", m.ensure(install.Queues))}
}

// restart restarts the node and waits until as many pods of each namespace run as
// before. What the API server says of a pod at first is of before the restart.
func (m *bringUp) restart(ctx context.Context, _ func(string)) (string, error) {
	before, err := m.clients.RunningSince(ctx, time.Time{})
	if err != nil {
		return "", err
	}
	began := time.Now()
	if err := m.kind.Restart(ctx); err != nil {
		return "", err
	}
	return "the node; what ran before runs again", poll.For(ctx, "what ran before the restart of the node to run again", func(ctx context.Context) error {
		return m.clients.RunsAgain(ctx, before, began)
	})
}

// processorTime is that of this process and of the programs that it has started and
// that have ended.
func processorTime() time.Duration {
	var total time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var used syscall.Rusage
		if err := syscall.Getrusage(who, &used); err == nil {
			total += time.Duration(used.Utime.Nano() + used.Stime.Nano())
		}
	}
	return total
}
