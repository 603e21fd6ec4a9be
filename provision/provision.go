// Package provision makes the lab and removes it: a kind cluster of one node
// with four fake GPUs, JobSet, Kueue and the queues, as the lab text describes
// them. It knows no step. What it hands over is a kubeconfig file.
package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sigs.k8s.io/e2e-framework/pkg/envconf"
	"sigs.k8s.io/e2e-framework/pkg/envfuncs"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
)

// Up makes the lab, or finds that it stands, and tells each promise as it holds.
// A lab that did not come up is removed again, unless it is to be kept.
func (l *Lab) Up(ctx context.Context) error {
	release, err := l.lock()
	if err != nil {
		return err
	}
	defer release()
	_, err = l.up(ctx)
	return err
}

func (l *Lab) up(ctx context.Context) (m *bringUp, err error) {
	began := time.Now()
	told := newProgress(os.Stdout)
	defer told.close()
	m = &bringUp{lab: l, sets: &ImageSets{Lab: l}, list: told}
	defer func() {
		if err != nil {
			err = l.afterFailure(ctx, m, err)
		}
	}()
	steps := []step{m.step("host", m.host), m.step("images", m.images), m.step("cluster", m.cluster)}
	if err := inOrder(ctx, append(steps, m.controllers()...)...); err != nil {
		return m, err
	}
	if err := m.kind.markComplete(ctx); err != nil {
		return m, err
	}
	l.Unfinished.finish()
	if note := versionNote(l.Pins, m.set); note != "" {
		told.note("* %s", note)
	}
	told.note("the lab %s is ready after %.1fs; to look at it: export KUBECONFIG=%s", l.Name, time.Since(began).Seconds(), l.Kubeconfig())
	return m, nil
}

// making is a lab on its way up: what a step found, for the steps after it.
type bringUp struct {
	lab     *Lab
	sets    *ImageSets
	list    *progress
	engine  engine
	set     images.Set
	kind    *kindCluster
	existed bool // the cluster stood before, so a failure now does not take it away
	clients *cluster
	// notes are to be told below the line of the step that left them.
	notes []string
}

// work is one step: it returns what its line says once its promise holds.
type work func(ctx context.Context, say func(string)) (said string, err error)

// step is one step of bringing the lab up.
type step func(ctx context.Context) error

// step makes a line of the list of a piece of work.
func (m *bringUp) step(name string, do work) step {
	return func(ctx context.Context) error {
		line := m.list.start(name)
		said, err := do(ctx, line.say)
		line.end(said, err)
		if len(m.notes) > 0 {
			m.list.note("%s", strings.Join(m.notes, "\n"))
			m.notes = nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// controllers are the steps from a bare cluster to the lab.
func (m *bringUp) controllers() []step {
	return []step{
		parallel(m.step("image", m.ensure(stepsImage)), m.step("GPUs", m.ensure(gpus)),
			m.step("JobSet", m.ensure(jobSet)), m.step("Kueue", m.ensure(kueue))),
		m.step("queues", m.ensure(queues)),
	}
}

func (m *bringUp) ensure(keep func(context.Context, *cluster, images.Set) (string, error)) work {
	return func(ctx context.Context, _ func(string)) (string, error) {
		return keep(ctx, m.clients, m.set)
	}
}

func (m *bringUp) host(ctx context.Context, say func(string)) (string, error) {
	found, said, err := prepareHost(ctx, m.sets, say)
	m.engine = found
	if err != nil {
		return said, err
	}
	return said, m.lab.refuseForeign(ctx, found)
}

// cluster makes the cluster, or takes the one that stands if it is of the same node
// image and once was a complete lab; anything else of that name is made anew.
func (m *bringUp) cluster(ctx context.Context, say func(string)) (string, error) {
	if err := m.engine.use(m.lab.Name, m.lab.podman()); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(m.lab.Kubeconfig()), 0o755); err != nil {
		return "", err
	}
	seal, err := writeEgressRules(m.lab.egressFolder())
	if err != nil {
		return "", err
	}
	if _, err := m.lab.haveOwner(); err != nil {
		return "", err
	}
	k, err := m.lab.cluster(m.engine)
	if err != nil {
		return "", err
	}
	mark, err := k.writeMark(m.lab.egressFolder())
	if err != nil {
		return "", err
	}
	k.image, k.ownNetwork, k.mounts, k.say = m.set.Node, m.set.OwnNetwork, append(seal, mark), say
	verdict, err := m.lab.inspect(ctx, k)
	if err != nil {
		return "", err
	}
	if err := m.lab.writeRecord(m.lab.recordFile(), m.engine.name); err != nil {
		return "", err
	}
	m.kind = k
	said := "kind " + m.lab.Name + ", stood already"
	m.existed = verdict == ""
	if verdict != "" {
		m.lab.Unfinished.begin(m.lab.Name, "made")
		say(verdict)
		if err := k.Destroy(ctx); err != nil {
			return "", err
		}
		if _, err := envfuncs.CreateCluster(k, m.lab.Name)(ctx, envconf.New()); err != nil {
			return "", err
		}
		said = "kind " + m.lab.Name + ", node Ready"
		if verdict != absent {
			said += " (made anew: " + verdict + ")"
		}
	}
	if m.clients, err = connect(k.kubeconfig, m.lab.Pins); err != nil {
		return "", err
	}
	m.clients.node = k.exec
	mended, err := m.node(ctx)
	if err != nil {
		return "", err
	}
	if mended != "" {
		said += ", " + mended
	}
	if err := k.verifyVersions(ctx, m.set); err != nil {
		return "", err
	}
	brought, err := k.loadImages(ctx, m.set)
	if err == nil && brought > 0 {
		said += fmt.Sprintf(", %d images brought in", brought)
	}
	return said, err
}

// images gets the image set and loads its node image into the engine.
func (m *bringUp) images(ctx context.Context, say func(string)) (string, error) {
	got, err := m.sets.imageSet(ctx, say)
	m.notes = got.notes()
	if err != nil {
		return "", err
	}
	set, said := got.set, got.how
	m.set = set
	if err := m.engine.use(m.lab.Name, m.lab.podman()); err != nil {
		return "", err
	}
	say("loading the node image into " + m.engine.name)
	loaded, err := m.engine.haveImage(ctx, set.Node, set.Archive)
	if err != nil {
		return "", fmt.Errorf("loading the node image: %w", err)
	}
	if loaded {
		said += ", loaded"
	}
	note := ""
	if versionNote(m.lab.Pins, set) != "" {
		note = " *"
	}
	return fmt.Sprintf("%s (%s, k8s %s, JobSet %s%s)", said, got.origin(), set.Kubernetes, set.JobSet, note), nil
}

// node promises that the node is Ready and takes pods. One that stood before need
// not boot first, and what is wrong with it is known sooner.
func (m *bringUp) node(ctx context.Context) (mended string, err error) {
	if m.existed {
		bounded, cancel := context.WithTimeout(ctx, ownStanding)
		defer cancel()
		ctx = bounded
	}
	if err := waitFor(ctx, "the node to be Ready", m.clients.nodeIsReady); err != nil {
		return "", err
	}
	return m.clients.takesPods(ctx)
}

// versionNote says which versions of a set are not the pinned ones; empty if all are.
func versionNote(pins fixtures.Pins, set images.Set) string {
	others := set.Versions().Differ(pins.Versions())
	if len(others) == 0 {
		return ""
	}
	return fmt.Sprintf("the lab pins %s: a run on this lab is partial", strings.Join(others, " and "))
}
