package provision

import (
	"context"
	"fmt"
	"os"
	"time"

	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/install"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/progress"
)

// Bench makes a lab twice under a name of its own, the plain way and ours, from the
// same images and with the same kind configuration. It prints how long each took from
// the start of kind to active queues.
func Bench(ctx context.Context, l *labs.Lab) error {
	l = &labs.Lab{Name: l.Name + "-bench", Checkout: l.Checkout, Folder: l.Folder, Pins: l.Pins}
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	ways := []struct {
		name string
		rest func(*bringUp) []step
	}{
		{"plain", (*bringUp).plainly},
		{"ours", (*bringUp).controllers},
	}
	took := map[string]time.Duration{}
	for _, way := range ways {
		if took[way.name], err = timed(ctx, l, way.name, way.rest); err != nil {
			return err
		}
	}
	fmt.Printf("\nThe lab, from kind's create to active queues, images cached:\n"+
		"  the plain way  %6.1f s   both manifests applied at once, waiting for both rollouts and webhooks\n"+
		"  our way        %6.1f s   %.1f times faster\n",
		took["plain"].Seconds(), took["ours"].Seconds(), took["plain"].Seconds()/took["ours"].Seconds())
	return nil
}

// timed makes the lab one way and removes it. The images are not timed.
func timed(ctx context.Context, l *labs.Lab, name string, rest func(*bringUp) []step) (took time.Duration, err error) {
	fmt.Printf("\n%s:\n", name)
	list := progress.New(os.Stdout)
	defer list.Close()
	m := &bringUp{lab: l, sets: &imageset.Resolver{Lab: l}, list: list}
	if err := inOrder(ctx, m.step("host", m.host), m.step("images", m.images)); err != nil {
		return 0, err
	}
	if err := remove(ctx, l, m.engine); err != nil {
		return 0, err
	}
	defer func() {
		if removed := remove(context.WithoutCancel(ctx), l, m.engine); err == nil {
			err = removed
		}
	}()
	began := time.Now()
	err = inOrder(ctx, append([]step{m.step("cluster", m.cluster)}, rest(m)...)...)
	return time.Since(began), err
}

// plainly installs as the installation pages say: apply, then wait.
func (m *bringUp) plainly() []step {
	controllers := func(ctx context.Context, say func(string)) (string, error) {
		say("waiting for both rollouts and webhooks")
		return install.Plain(ctx, m.clients, m.set)
	}
	return []step{m.step("GPUs", m.ensure(install.GPUs)), m.step("both", controllers), m.step("queues", m.ensure(install.Queues))}
}
