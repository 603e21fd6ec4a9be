package kindcluster

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gsb.test/jobset-e2e/provision/engine"
)

func describeContainer(c engine.Container) string {
	for _, mount := range c.Mounts {
		if strings.HasPrefix(mount.Destination, engine.MarkFolder) {
			// The mark is in <cache folder>/labs/<name>.seal.
			return "it is the node of a lab made from another cache folder, " + filepath.Dir(filepath.Dir(filepath.Dir(mount.Source)))
		}
	}
	if cluster := c.Config.Labels[engine.ClusterLabel]; cluster != "" {
		return "it is a node of the kind cluster " + cluster + ", without a mark of this project"
	}
	return "it has no mark of this project"
}

func describeNetwork(n engine.Network) string {
	if by := n.Labels[engine.MadeLabel]; by != "" {
		return "it is the network of another lab, made by " + by
	}
	return "it has no mark of this project"
}

// Foreign is the refusal to touch objects of a lab's name that are not ours.
type Foreign struct {
	lab    string
	engine engine.Engine
	things []string
	remove []string
}

func (f *Foreign) add(kind, name, whose, remove string) {
	f.things = append(f.things, fmt.Sprintf("   the %s %s: %s", kind, name, whose))
	f.remove = append(f.remove, f.engine.Name+" "+remove+name)
}

func (f *Foreign) Error() string {
	by := strings.Join(f.remove, " && ")
	if f.engine.Name == "podman" {
		// A lab's Podman has its own storage.
		by = fmt.Sprintf("export CONTAINERS_CONF=%s CONTAINERS_STORAGE_CONF=%s; %s", os.Getenv("CONTAINERS_CONF"), os.Getenv("CONTAINERS_STORAGE_CONF"), by)
	}
	return fmt.Sprintf("%s has something of the name %s that this project did not make from this cache folder, so it is left alone:\n%s\n"+
		"   take another name for the lab: LAB_NAME=%s-2; or, if that may go, remove it yourself: %s",
		f.engine.Name, f.lab, strings.Join(f.things, "\n"), f.lab, by)
}
