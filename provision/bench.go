package provision

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Bench makes the lab twice under a name of its own, first the plain way, then
// ours, from the same images and with the same kind configuration, and prints
// how long each took from the start of kind's create to active queues.
func (l *Lab) Bench(ctx context.Context) error {
	l = &Lab{Name: l.Name + "-bench", Checkout: l.Checkout, Folder: l.Folder, Pins: l.Pins}
	release, err := l.lock()
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
		if took[way.name], err = l.timed(ctx, way.name, way.rest); err != nil {
			return err
		}
	}
	fmt.Printf("\nThe lab, from kind's create to active queues, images cached:\n"+
		"  the plain way  %6.1f s   both manifests applied at once, waiting for both rollouts and webhooks\n"+
		"  our way        %6.1f s   %.1f times faster\n",
		took["plain"].Seconds(), took["ours"].Seconds(), took["plain"].Seconds()/took["ours"].Seconds())
	return nil
}

// timed makes the lab one way and removes it; only what comes after the images counts.
func (l *Lab) timed(ctx context.Context, name string, rest func(*bringUp) []step) (took time.Duration, err error) {
	fmt.Printf("\n%s:\n", name)
	told := newProgress(os.Stdout)
	defer told.close()
	m := &bringUp{lab: l, sets: &ImageSets{Lab: l}, list: told}
	if err := inOrder(ctx, m.step("host", m.host), m.step("images", m.images)); err != nil {
		return 0, err
	}
	if err := l.remove(ctx, m.engine); err != nil {
		return 0, err
	}
	defer func() {
		if removed := l.remove(context.WithoutCancel(ctx), m.engine); err == nil {
			err = removed
		}
	}()
	began := time.Now()
	err = inOrder(ctx, append([]step{m.step("cluster", m.cluster)}, rest(m)...)...)
	return time.Since(began), err
}

// plainly is what the projects' installation pages say: apply, then wait.
func (m *bringUp) plainly() []step {
	controllers := func(ctx context.Context, say func(string)) (string, error) {
		say("waiting for both rollouts and webhooks")
		return plain(ctx, m.clients, m.set)
	}
	return []step{m.step("GPUs", m.ensure(gpus)), m.step("both", controllers), m.step("queues", m.ensure(queues))}
}
