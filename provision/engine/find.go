package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Names are the container engines that can run a kind node, the preferred one first.
var Names = []string{"docker", "podman"}

// unusable is why an engine cannot run a kind node here.
type unusable struct{ engine, short, detail string }

func (u *unusable) Error() string {
	text := fmt.Sprintf("   %s: %s", u.engine, u.short)
	if u.detail != "" {
		text += ": " + u.detail
	}
	return text
}

// Find returns the first engine that runs a privileged container: Docker, then Podman;
// or only the one that LAB_ENGINE names. folder is the project's cache folder, or a
// temporary one.
func Find(ctx context.Context, folder string) (Engine, error) {
	names := Names
	if wanted := os.Getenv("LAB_ENGINE"); wanted != "" {
		if wanted != "docker" && wanted != "podman" {
			return Engine{}, fmt.Errorf("LAB_ENGINE is %q; it can be docker or podman", wanted)
		}
		names = []string{wanted}
	}
	var why []error
	for i, name := range names {
		found, err := Try(ctx, Engine{Name: name}, folder)
		if err == nil {
			found.Why, found.Second = passedOver(why), notAsked(found.Name, names[i+1:])
			return found, nil
		}
		if ctx.Err() != nil {
			return Engine{}, ctx.Err()
		}
		why = append(why, err)
	}
	return Engine{}, fmt.Errorf("no container engine here can run a kind node:\n%w\n"+
		"   start Docker, or, on Debian: apt-get install podman runc netavark aardvark-dns iptables", errors.Join(why...))
}

// passedOver says briefly why the preferred engines were not taken.
func passedOver(failures []error) string {
	var reasons []string
	for _, err := range failures {
		var cannot *unusable
		if errors.As(err, &cannot) {
			reasons = append(reasons, cannot.engine+": "+cannot.short)
		}
	}
	return strings.Join(reasons, ", ")
}

// notAsked says that an installed engine was not tried because another is preferred.
func notAsked(found string, others []string) string {
	for _, other := range others {
		if _, err := exec.LookPath(other); err == nil {
			return fmt.Sprintf("; %s goes before %s, which LAB_ENGINE=%s takes", found, other, other)
		}
	}
	return ""
}

// Try runs a privileged container and returns the engine with its version. A success
// is remembered until the machine restarts or the engine changes.
func Try(ctx context.Context, e Engine, folder string) (Engine, error) {
	if _, err := exec.LookPath(e.Name); err != nil {
		return e, &unusable{e.Name, "not installed", ""}
	}
	if e.Name == "podman" {
		if os.Geteuid() != 0 {
			return e, &unusable{e.Name, "a lab uses it as root only", "sudo -E make e2e"}
		}
		if missing := MissingPackages(Runs); len(missing) > 0 {
			return e, &unusable{e.Name, "not all of it is installed", strings.Join(missing, " ") + " is missing"}
		}
	}
	if err := e.Use("gsb-jobset-probe", filepath.Join(folder, "podman")); err != nil {
		return e, err
	}
	format := map[string]string{"docker": "{{.Server.Version}}", "podman": "{{.Client.Version}}"}[e.Name]
	bounded, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var err error
	if e.Version, err = e.Run(bounded, "version", "--format", format); err != nil {
		return e, &unusable{e.Name, "no engine answers", FirstLine(err)}
	}
	e.Tried = "ran a privileged container"
	proof := proofOf(e)
	file := filepath.Join(folder, "engines", e.Name)
	if was, err := os.ReadFile(file); err == nil && string(was) == proof && proof != "" {
		return e, nil
	}
	if err := runPrivileged(bounded, e); err != nil {
		return e, &unusable{e.Name + " " + e.Version, "cannot run a privileged container, which a kind node is", FirstLine(err)}
	}
	// An engine that works is used even if the success cannot be remembered.
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err == nil && proof != "" {
		_ = os.WriteFile(file, []byte(proof), 0o644)
	}
	return e, nil
}

// proofOf identifies the tried engine: the daemon, its version and the machine's boot;
// empty if the boot is unknown.
func proofOf(e Engine) string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	proof := []string{e.Name, e.Version, strings.TrimSpace(string(boot))}
	if e.Name == "docker" {
		proof = append(proof, os.Getenv("DOCKER_HOST"), os.Getenv("DOCKER_CONTEXT"))
	}
	return strings.Join(proof, " ")
}
