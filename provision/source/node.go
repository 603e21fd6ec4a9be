package source

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// PodSubnet is what kind gives its first node to give to pods.
const PodSubnet = "10.244.0.0/24"

// conflist is the pod network of a cluster of one node, which needs no daemon.
const conflist = `{
  "cniVersion": "0.4.0",
  "name": "lab",
  "plugins": [
    {"type": "ptp", "ipMasq": true, "ipam": {"type": "host-local", "dataDir": "/run/cni-ipam-state",
      "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "` + PodSubnet + `"}]]}},
    {"type": "portmap", "capabilities": {"portMappings": true}}
  ]
}
`

// storageClass is applied by kind in place of a provisioner: the lab has no volumes.
const storageClass = `apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: standard
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
`

// nodeFiles lists the files that the node has in addition to Debian: those of kind,
// from the module of kind's library, and the programs.
func nodeFiles(ctx context.Context, p parts, kindModule, kubernetes string) ([]file, error) {
	base := filepath.Join(kindModule, "images", "base", "files")
	files, err := tree(base, "")
	if err != nil {
		return nil, fmt.Errorf("reading kind's base image files: %w", err)
	}
	for i := range files {
		files[i].Mode = files[i].Mode.Type() | 0o644 // a module archive carries no modes
		if files[i].Mode.IsDir() || strings.HasPrefix(files[i].Path, "usr/local/bin/") || strings.HasPrefix(files[i].Path, "kind/bin/") {
			files[i].Mode |= 0o111
		}
	}
	config, err := containerdConfig(filepath.Join(base, "etc", "containerd", "config.toml"))
	if err != nil {
		return nil, err
	}
	spec, err := podSpec(ctx, p)
	if err != nil {
		return nil, err
	}
	const units = "etc/systemd/system/"
	files = append(files,
		file{Path: "etc/containerd/config.toml", Text: config, Mode: 0o644},
		file{Path: "etc/containerd/cri-base.json", Text: spec, Mode: 0o644},
		file{Path: "etc/cni/net.d/10-lab.conflist", Text: conflist, Mode: 0o644},
		file{Path: "etc/kubernetes/manifests", Mode: fs.ModeDir | 0o755},
		file{Path: "kind/version", Text: kubernetes, Mode: 0o644},
		file{Path: "kind/manifests/default-storage.yaml", Text: storageClass, Mode: 0o644},
		file{Path: units + "systemd-binfmt.service", Link: "/dev/null"},
	)
	for _, unit := range []string{"kubelet.service", "containerd.service", "undo-mount-hacks.service"} {
		files = append(files, file{Path: units + "multi-user.target.wants/" + unit, Link: "/" + units + unit})
	}
	files = append(files, file{Path: "usr/bin/kubernetes", From: filepath.Join(p.programs, "kubernetes"), Mode: 0o755})
	for _, name := range []string{"kubeadm", "kubelet", "kubectl"} {
		files = append(files, file{Path: "usr/bin/" + name, Link: "kubernetes"})
	}
	for folder, names := range map[string][]string{
		"usr/local/bin/": {"containerd", "containerd-shim-runc-v2", "ctr", "crictl"},
		"opt/cni/bin/":   {"host-local", "loopback", "portmap", "ptp"},
	} {
		for _, name := range names {
			files = append(files, file{Path: folder + name, From: filepath.Join(p.programs, name), Mode: 0o755})
		}
	}
	return files, nil
}

// containerdConfig is kind's, with the sandbox image of this build.
func containerdConfig(path string) (string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("reading kind's containerd configuration: %w", err)
	}
	lines, found := strings.Split(string(content), "\n"), 0
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimSpace(line), "sandbox_image ") {
			lines[i] = fmt.Sprintf("  sandbox_image = %q", pauseImage)
			found++
		}
	}
	if found != 1 {
		return "", fmt.Errorf("%s sets sandbox_image %d times, not once: this kind is not the one these files were written for", path, found)
	}
	return strings.Join(lines, "\n"), nil
}

// podSpec is the runtime specification that every pod starts from: containerd's
// default with the two changes that kind's base image makes to it.
func podSpec(ctx context.Context, p parts) (string, error) {
	text, err := output(ctx, "", nil, filepath.Join(p.programs, "ctr"), "oci", "spec")
	if err != nil {
		return "", fmt.Errorf("asking ctr for its runtime specification: %w", err)
	}
	var spec map[string]any
	if err := json.Unmarshal(text, &spec); err != nil {
		return "", fmt.Errorf("ctr's runtime specification: %w", err)
	}
	process, ok := spec["process"].(map[string]any)
	if !ok {
		return "", fmt.Errorf("ctr's runtime specification has no process")
	}
	delete(process, "rlimits")
	spec["hooks"] = map[string]any{"createContainer": []any{map[string]any{"path": "/kind/bin/mount-product-files.sh"}}}
	changed, err := json.Marshal(spec)
	return string(changed), err
}
