package provision

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
)

// TestMain makes this test program a container engine where it is run by the name of
// one, and the program of a trial container where it is asked for its version.
func TestMain(m *testing.M) {
	switch name := filepath.Base(os.Args[0]); {
	case slices.Contains(engines, name):
		os.Exit(runFakeEngine(name, os.Args[1:]))
	case len(os.Args) == 2 && os.Args[1] == "--version":
		fmt.Println("lab 1")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// fakeEngine is what a stand-in for docker or podman on the PATH holds, and what it
// was called with. It knows the calls that this project makes, and refuses others.
type fakeEngine struct {
	Calls      []string
	Containers []container
	Networks   []network
	Volumes    []fakeVolume
	Images     []string
	// Fails says which calls fail, by how they begin, and what is printed then.
	Fails map[string]string
}

type fakeVolume struct{ Name, Label string }

// fakeEngines puts the engines of these names on an otherwise empty PATH, all of one state.
func fakeEngines(t *testing.T, state fakeEngine, names ...string) (read func() fakeEngine) {
	t.Helper()
	g := NewWithT(t)
	folder := t.TempDir()
	self, err := os.Executable()
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range names {
		g.Expect(os.Symlink(self, filepath.Join(folder, name))).To(Succeed())
	}
	// What Podman needs beside itself is looked for too.
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
	return func() fakeEngine {
		now, err := readFake(file)
		g.Expect(err).NotTo(HaveOccurred())
		return now
	}
}

// onBoth runs a test with each engine.
func onBoth(t *testing.T, test func(t *testing.T, name string)) {
	t.Helper()
	for _, name := range engines {
		t.Run(name, func(t *testing.T) {
			if name == "podman" {
				needPodman(t)
			}
			test(t, name)
		})
	}
}

func needPodman(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 || len(missingPackages(runs)) > 0 {
		t.Skip("Podman is used as root only, and if all that it needs is installed")
	}
}

// needStatic skips what has an engine run this very program.
func needStatic(t *testing.T) {
	t.Helper()
	if self, err := os.Executable(); err != nil || isStatic(self) != nil {
		t.Skip("this test program is not static, as make test builds it")
	}
}

func readFake(file string) (fakeEngine, error) {
	var state fakeEngine
	content, err := os.ReadFile(file)
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(content, &state)
}

func (f fakeEngine) write(file string) error {
	content, err := json.Marshal(f)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o644)
}

// changeFake changes the state as another program would that uses the engine.
func changeFake(file string, change func(*fakeEngine) error) error {
	lock := flock.New(file + ".lock")
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Close()
	state, err := readFake(file)
	if err != nil {
		return err
	}
	return errors.Join(change(&state), state.write(file))
}

func runFakeEngine(name string, args []string) int {
	err := changeFake(os.Getenv("FAKE_ENGINE"), func(f *fakeEngine) error {
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
func (f *fakeEngine) answer(name string, args []string) error {
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
		f.Containers = append(f.Containers, container{ID: args[3], Name: args[3]})
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
			if last == "name=^"+strings.TrimPrefix(c.Name, "/")+"$" || last == "label="+clusterLabel+"="+c.Config.Labels[clusterLabel] {
				fmt.Println(c.ID)
			}
		}
	case args[0] == "inspect":
		return print(f.Containers, func(c container) bool { return slices.Contains(args[3:], c.ID) })
	case call == "network ls":
		for _, n := range f.Networks {
			fmt.Println(n.ID, n.Name)
		}
	case call == "network inspect":
		return print(f.Networks, func(n network) bool { return slices.Contains(args[2:], n.ID) })
	case call == "network create":
		if slices.ContainsFunc(f.Networks, func(n network) bool { return n.Name == last }) {
			return fmt.Errorf("network with name %s already exists", last)
		}
		made := network{ID: "made-" + last, Name: last, Labels: map[string]string{}}
		for i, arg := range args {
			if arg == "--label" {
				key, value, _ := strings.Cut(args[i+1], "=")
				made.Labels[key] = value
			}
		}
		f.Networks = append(f.Networks, made)
	case call == "network rm":
		f.Networks = slices.DeleteFunc(f.Networks, func(n network) bool { return n.ID == last })
	case call == "volume ls":
		for _, v := range f.Volumes {
			if last == "label="+v.Label {
				fmt.Println(v.Name)
			}
		}
	case call == "volume rm":
		f.Volumes = slices.DeleteFunc(f.Volumes, func(v fakeVolume) bool { return v.Name == last })
	case args[0] == "rm":
		f.Containers = slices.DeleteFunc(f.Containers, func(c container) bool { return c.ID == last })
	case args[0] == "kill", args[0] == "exec":
	default:
		return fmt.Errorf("the stand-in does not know %s %s", name, strings.Join(args, " "))
	}
	return nil
}

// print prints some things as both engines do.
func print[T any](all []T, wanted func(T) bool) error {
	return json.NewEncoder(os.Stdout).Encode(slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !wanted(one) }))
}

// later changes the state of the fake engine after a while.
func later(t *testing.T, after time.Duration, change func(*fakeEngine)) {
	t.Helper()
	file := os.Getenv("FAKE_ENGINE")
	timer := time.AfterFunc(after, func() {
		_ = changeFake(file, func(f *fakeEngine) error { change(f); return nil })
	})
	t.Cleanup(func() { timer.Stop() })
}
