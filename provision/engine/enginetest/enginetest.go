// Package enginetest is a fake docker and podman for tests.
package enginetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/engine"
)

// OurNode is a running node of a lab, with the mark of an owner.
func OurNode(lab, owner string) engine.Container {
	node := engine.Container{ID: "our-node", Name: "/" + lab + "-control-plane"}
	node.State.Running = true
	node.Config.Image = "node:1"
	node.Config.Labels = map[string]string{engine.ClusterLabel: lab}
	node.Mounts = append(node.Mounts, struct{ Source, Destination string }{"/home/a/.cache/gsb-jobset/labs/" + lab + ".seal/owner", "/etc/gsb-jobset.owner/" + owner})
	return node
}

// Main is the TestMain of a package that uses the fake engine. It makes the test
// program a container engine when it is run by the name of one, and the program of the
// trial container when it is run with --version.
func Main(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case slices.Contains(engine.Names, name):
		os.Exit(answer(name, os.Args[1:]))
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println("lab 1")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// State is what a fake docker or podman holds, and the calls it got. It knows the
// calls that this project makes and refuses all others.
type State struct {
	Calls      []string
	Containers []engine.Container
	Networks   []engine.Network
	Volumes    []Volume
	Images     []string
	// Fails maps the beginning of a call to the error that it prints.
	Fails map[string]string
}

// Volume is a volume with the label of its node.
type Volume struct{ Name, Label string }

// Install puts fake engines of these names on an otherwise empty PATH. They share one
// state.
func Install(t *testing.T, state State, names ...string) (read func() State) {
	t.Helper()
	g := NewWithT(t)
	folder := t.TempDir()
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range names {
		g.Expect(os.Symlink(self, filepath.Join(folder, name))).To(Succeed())
	}
	// Podman is used only if these programs exist too.
	for _, program := range []string{"mmdebstrap", "runc", "iptables"} {
		g.Expect(os.WriteFile(filepath.Join(folder, program), []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	}
	file := filepath.Join(folder, "state.json")
	t.Setenv("PATH", folder)
	t.Setenv("FAKE_ENGINE", file)
	t.Setenv("LAB_ENGINE", "")
	for _, name := range []string{"CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "KIND_EXPERIMENTAL_PROVIDER", "KIND_EXPERIMENTAL_DOCKER_NETWORK", "KIND_EXPERIMENTAL_PODMAN_NETWORK"} {
		t.Setenv(name, os.Getenv(name)) // the code under test sets them; this puts them back
	}
	g.Expect(state.write(file)).To(Succeed())
	return func() State {
		now, err := readState(file)
		g.Expect(err).NotTo(HaveOccurred())
		return now
	}
}

// OnBoth runs a test with each engine.
func OnBoth(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range engine.Names {
		t.Run(name, func(t *testing.T) {
			if name == "podman" {
				NeedPodman(t)
			}
			test(t, name)
		})
	}
}

// NeedPodman skips a test where Podman cannot be used.
func NeedPodman(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 || len(engine.MissingPackages(engine.Runs)) > 0 {
		t.Skip("Podman is used as root only, and if all that it needs is installed")
	}
}

// NeedStatic skips a test in which an engine runs the test program.
func NeedStatic(t *testing.T) {
	t.Helper()
	if self, err := os.Executable(); err != nil || engine.IsStatic(self) != nil {
		t.Skip("this test program is not static, as make test builds it")
	}
}

func readState(file string) (State, error) {
	var state State
	content, err := os.ReadFile(file)
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(content, &state)
}

func (f State) write(file string) error {
	content, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// changeState changes the state as another program that uses the engine would.
func changeState(file string, change func(*State) error) error {
	lock := flock.New(file + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Close()
	state, err := readState(file)
	if err != nil {
		return err
	}
	return errors.Join(change(&state), state.write(file))
}

func answer(name string, args []string) int {
	err := changeState(os.Getenv("FAKE_ENGINE"), func(f *State) error {
		call := name + " " + strings.Join(args, " ")
		f.Calls = append(f.Calls, call)
		for begin, text := range f.Fails {
			if strings.HasPrefix(call, begin) {
				return errors.New(text)
			}
		}
		return f.answer(name, args)
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 125
	}
	return 0
}

// answer does and prints what the engine would.
func (f *State) answer(name string, args []string) error {
	fmt.Fprintln(os.Stderr, "WARN[0000] which is no part of the answer")
	last := args[len(args)-1]
	switch call := strings.Join(args[:min(2, len(args))], " "); {
	case args[0] == "version":
		fmt.Println(map[string]string{"docker": "28.0.1", "podman": "5.4.0"}[name])
	case args[0] == "import":
		f.Images = append(f.Images, last)
	case args[0] == "rmi":
		f.Images = slices.DeleteFunc(f.Images, func(i string) bool { return i == last })
	case args[0] == "run":
		f.Containers = append(f.Containers, engine.Container{ID: args[3], Name: args[3]})
	case args[0] == "logs":
		fmt.Println("lab 1")
	case args[0] == "load":
		f.Images = append(f.Images, "loaded from "+last)
	case call == "image inspect":
		if !slices.Contains(f.Images, last) {
			return errors.New("no such image")
		}
		fmt.Println("sha256:1")
	case args[0] == "ps":
		for _, c := range f.Containers {
			if last == "name=^"+strings.TrimPrefix(c.Name, "/")+"$" || last == "label="+engine.ClusterLabel+"="+c.Config.Labels[engine.ClusterLabel] {
				fmt.Println(c.ID)
			}
		}
	case args[0] == "inspect":
		return print(f.Containers, func(c engine.Container) bool { return slices.Contains(args[3:], c.ID) })
	case call == "network ls":
		for _, n := range f.Networks {
			fmt.Println(n.ID, n.Name)
		}
	case call == "network inspect":
		return print(f.Networks, func(n engine.Network) bool { return slices.Contains(args[2:], n.ID) })
	case call == "network create":
		if slices.ContainsFunc(f.Networks, func(n engine.Network) bool { return n.Name == last }) {
			return fmt.Errorf("network with name %s already exists", last)
		}
		made := engine.Network{ID: "made-" + last, Name: last, Labels: map[string]string{}}
		for i, arg := range args {
			if arg == "--label" {
				key, value, _ := strings.Cut(args[i+1], "=")
				made.Labels[key] = value
			}
		}
		f.Networks = append(f.Networks, made)
	case call == "network rm":
		f.Networks = slices.DeleteFunc(f.Networks, func(n engine.Network) bool { return n.ID == last })
	case call == "volume ls":
		for _, v := range f.Volumes {
			if last == "label="+v.Label {
				fmt.Println(v.Name)
			}
		}
	case call == "volume rm":
		f.Volumes = slices.DeleteFunc(f.Volumes, func(v Volume) bool { return v.Name == last })
	case args[0] == "rm":
		f.Containers = slices.DeleteFunc(f.Containers, func(c engine.Container) bool { return c.ID == last })
	case args[0] == "kill", args[0] == "exec":
	default:
		return fmt.Errorf("the fake engine does not know %s %s", name, strings.Join(args, " "))
	}
	return nil
}

// print prints objects as both engines do.
func print[T any](all []T, wanted func(T) bool) error {
	return json.NewEncoder(os.Stdout).Encode(slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !wanted(one) }))
}

// Later changes the state of the fake engine after a while.
func Later(t *testing.T, after time.Duration, change func(*State)) {
	t.Helper()
	file := os.Getenv("FAKE_ENGINE")
	timer := time.AfterFunc(after, func() {
		_ = changeState(file, func(f *State) error { change(f); return nil })
	})
	t.Cleanup(func() { timer.Stop() })
}
