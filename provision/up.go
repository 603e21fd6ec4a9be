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

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/images"
	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/install"
	"gsb.test/jobset-e2e/provision/kindcluster"
	"gsb.test/jobset-e2e/provision/labs"
	"gsb.test/jobset-e2e/provision/poll"
	"gsb.test/jobset-e2e/provision/progress"
)

// Up makes the lab, or checks and fixes the existing one, and prints a line for each
// finished step. A lab that did not come up is removed, unless it is to be kept.
func Up(ctx context.Context, l *labs.Lab) error {
	release, err := l.Lock()
	if err != nil {
		return err
	}
	defer release()
	_, err = up(ctx, l)
	return err
}

func up(ctx context.Context, l *labs.Lab) (m *bringUp, err error) {
	began := time.Now()
	list := progress.New(os.Stdout)
	defer list.Close()
	m = &bringUp{lab: l, sets: &imageset.Resolver{Lab: l}, list: list}
	defer func() {
		if err != nil {
			err = afterFailure(ctx, l, m, err)
		}
	}()
	steps := []step{m.step("host", m.host), m.step("images", m.images), m.step("cluster", m.cluster)}
	if err := inOrder(ctx, append(steps, m.controllers()...)...); err != nil {
		return m, err
	}
	if err := m.kind.MarkComplete(ctx); err != nil {
		return m, err
	}
	l.Unfinished.Finish()
	if note := imageset.VersionNote(l.Pins, m.set); note != "" {
		list.Note("* %s", note)
	}
	list.Note("the lab %s is ready after %.1fs; to look at it: export KUBECONFIG=%s", l.Name, time.Since(began).Seconds(), l.Kubeconfig())
	return m, nil
}

// bringUp is a lab being brought up: what each step found, for the steps after it.
type bringUp struct {
	lab     *labs.Lab
	sets    *imageset.Resolver
	list    *progress.List
	engine  engine.Engine
	set     images.Set
	kind    *kindcluster.Cluster
	existed bool // the cluster existed before, so it is kept after a failure
	clients *install.Cluster
	// plain leaves out of the node what only makes the lab come up sooner; see Bench.
	plain bool
	// notes are printed below the line of the step that left them.
	notes []string
}

// work is the content of a step: it returns the text of its line once the step is
// done.
type work func(ctx context.Context, say func(string)) (summary string, err error)

// step is one step of bringing the lab up.
type step func(ctx context.Context) error

// step adds a line of the progress list to a piece of work.
func (m *bringUp) step(name string, do work) step {
	return func(ctx context.Context) error {
		line := m.list.Start(name)
		summary, err := do(ctx, line.Say)
		line.End(summary, err)
		if len(m.notes) > 0 {
			m.list.Note("%s", strings.Join(m.notes, "\n"))
			m.notes = nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// controllers are the steps from an empty cluster to the lab.
func (m *bringUp) controllers() []step {
	return []step{
		parallel(m.step("image", m.ensure(install.StepsImage)), m.step("GPUs", m.ensure(install.GPUs)),
			m.step("JobSet", m.ensure(install.JobSet)), m.step("Kueue", m.ensure(install.Kueue)), m.step("DNS", m.ensure(install.DNS))),
		m.step("queues", m.ensure(install.Queues)),
	}
}

func (m *bringUp) ensure(keep func(context.Context, *install.Cluster, images.Set) (string, error)) work {
	return func(ctx context.Context, _ func(string)) (string, error) {
		return keep(ctx, m.clients, m.set)
	}
}

func (m *bringUp) host(ctx context.Context, say func(string)) (string, error) {
	found, summary, err := prepareHost(ctx, m.sets, say)
	m.engine = found
	if err != nil {
		return summary, err
	}
	return summary, refuseForeign(ctx, m.lab, found)
}

// cluster creates the cluster. It keeps an existing one if that has the same node
// image and once was a complete lab, and replaces any other of that name that is ours.
func (m *bringUp) cluster(ctx context.Context, say func(string)) (string, error) {
	if err := m.engine.Use(m.lab.Name, m.lab.PodmanFolder()); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(m.lab.Kubeconfig()), 0o755); err != nil {
		return "", err
	}
	rules, err := kindcluster.WriteEgressRules(m.lab.EgressFolder())
	if err != nil {
		return "", err
	}
	if !m.plain {
		route, err := kindcluster.WriteAPIRoute(m.lab.EgressFolder())
		if err != nil {
			return "", err
		}
		rules = append(rules, route...)
	}
	if _, err := m.lab.EnsureOwner(); err != nil {
		return "", err
	}
	k, err := cluster(m.lab, m.engine)
	if err != nil {
		return "", err
	}
	mark, err := k.WriteMark(m.lab.EgressFolder())
	if err != nil {
		return "", err
	}
	k.Image, k.OwnNetwork, k.Mounts, k.Say = m.set.Node, m.set.OwnNetwork, append(rules, mark), say
	verdict, err := inspect(ctx, m.lab, k)
	if err != nil {
		return "", err
	}
	if err := m.lab.WriteRecord(m.lab.RecordFile(), m.engine.Name); err != nil {
		return "", err
	}
	m.kind = k
	summary := "kind " + m.lab.Name + ", exists already"
	m.existed = verdict == ""
	if verdict != "" {
		m.lab.Unfinished.Begin(m.lab.Name, "made")
		say(verdict)
		if err := k.Destroy(ctx); err != nil {
			return "", err
		}
		if _, err := envfuncs.CreateCluster(kindcluster.Provider{Cluster: k}, m.lab.Name)(ctx, envconf.New()); err != nil {
			return "", err
		}
		summary = "kind " + m.lab.Name + ", node Ready"
		if verdict != absent {
			summary += " (replaced: " + verdict + ")"
		}
	}
	if m.clients, err = install.Connect(k.Kubeconfig, m.lab.Pins); err != nil {
		return "", err
	}
	m.clients.Node = k.Exec
	fixed, err := m.node(ctx)
	if err != nil {
		return "", err
	}
	if fixed != "" {
		summary += ", " + fixed
	}
	if err := k.VerifyVersions(ctx, m.set); err != nil {
		return "", err
	}
	loaded, err := k.LoadImages(ctx, m.set)
	if err == nil && loaded > 0 {
		summary += fmt.Sprintf(", %d images loaded", loaded)
	}
	return summary, err
}

// images gets the image set and loads its node image into the engine.
func (m *bringUp) images(ctx context.Context, say func(string)) (string, error) {
	got, err := m.sets.Resolve(ctx, say)
	m.notes = got.Notes()
	if err != nil {
		return "", err
	}
	set, summary := got.Set, got.How
	m.set = set
	if err := m.engine.Use(m.lab.Name, m.lab.PodmanFolder()); err != nil {
		return "", err
	}
	say("loading the node image into " + m.engine.Name)
	loaded, err := m.engine.LoadImage(ctx, set.Node, set.Archive)
	if err != nil {
		return "", fmt.Errorf("loading the node image: %w", err)
	}
	if loaded {
		summary += ", loaded"
	}
	note := ""
	if imageset.VersionNote(m.lab.Pins, set) != "" {
		note = " *"
	}
	return fmt.Sprintf("%s (%s, k8s %s, JobSet %s%s)", summary, got.Origin(), set.Kubernetes, set.JobSet, note), nil
}

// node waits until the node is Ready and schedulable. An existing node need not boot
// first, so it is given less time.
func (m *bringUp) node(ctx context.Context) (fixed string, err error) {
	if m.existed {
		bounded, cancel := context.WithTimeout(ctx, install.AnswerTimeout)
		defer cancel()
		ctx = bounded
	}
	if err := poll.For(ctx, "the node to be Ready", m.clients.NodeReady); err != nil {
		return "", err
	}
	return m.clients.MakeSchedulable(ctx)
}
