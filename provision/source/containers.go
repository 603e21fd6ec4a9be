package source

import (
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// pauseImage holds the namespaces of every pod. It is ours, so it has our name.
const pauseImage = "lab.local/pause:1"

// searchPath is the PATH of every image.
const searchPath = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// anyUser is a user that is not root: JobSet's and Kueue's pods set runAsNonRoot,
// which needs a number here.
const anyUser = "65532:65532"

// container is one image for containerd in the node.
type container struct {
	ref    string
	config v1.Config
	layers []string // tar files
}

// parts are the finished cache entries that images are put together from.
type parts struct {
	programs, debian, proxy, gpu string // folders
}

// system lists the images that Kubernetes itself needs in its node, under the
// names that kubeadm uses. A tag is the version built.
func (n *node) system(dir string) ([]container, error) {
	etcd, err := n.modules.version("go.etcd.io/etcd/server/v3")
	if err != nil {
		return nil, err
	}
	coredns, err := n.modules.version("github.com/coredns/coredns")
	if err != nil {
		return nil, err
	}
	images, err := n.ofOneProgram(dir, []single{
		// kubeadm's manifests name the program and look for it on the PATH.
		{"registry.k8s.io/etcd:" + etcd[1:] + "-0", "etcd", "", "/usr/local/bin/etcd"},
		{"registry.k8s.io/coredns/coredns:" + coredns, "coredns", "", "/coredns"},
		{pauseImage, "pause", anyUser, "/pause"},
	})
	if err != nil {
		return nil, err
	}
	all, err := layerOf(dir, "kubernetes", file{Path: "usr/local/bin/kubernetes", From: filepath.Join(n.parts.programs, "kubernetes"), Mode: 0o755})
	if err != nil {
		return nil, err
	}
	for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		link, err := layerOf(dir, component, file{Path: "usr/local/bin/" + component, Link: "kubernetes"})
		if err != nil {
			return nil, err
		}
		image := container{"registry.k8s.io/" + component + ":" + n.kubernetes, v1.Config{Entrypoint: []string{"/usr/local/bin/" + component}}, []string{all, link}}
		if component == "kube-proxy" {
			links, err := layerOf(dir, "iptables", iptablesLinks()...)
			if err != nil {
				return nil, err
			}
			image.layers = append(image.layers, filepath.Join(n.parts.proxy, "root.tar"), links)
		}
		images = append(images, image)
	}
	return images, nil
}

// lab lists the images that the lab runs in addition to Kubernetes and the device
// plugin, by the names in the manifests and the learner's files.
func (n *node) lab(dir string) ([]container, error) {
	images, err := n.ofOneProgram(dir, []single{
		{n.jobSetImage(), "jobset", anyUser, "/manager"},
		{n.kueueImage(), "kueue", anyUser, "/manager"},
	})
	if err != nil {
		return nil, err
	}
	files, err := busyboxFiles(n.parts.debian)
	if err != nil {
		return nil, err
	}
	busybox, err := layerOf(dir, "busybox", files...)
	if err != nil {
		return nil, err
	}
	return append(images, container{n.pins.Image, v1.Config{Cmd: []string{"sh"}}, []string{busybox}}), nil
}

// single is an image of one program and nothing else.
type single struct{ ref, program, user, entrypoint string }

func (n *node) ofOneProgram(dir string, wanted []single) ([]container, error) {
	var images []container
	for _, w := range wanted {
		path, err := layerOf(dir, w.program, file{Path: w.entrypoint[1:], From: filepath.Join(n.parts.programs, w.program), Mode: 0o755})
		if err != nil {
			return nil, err
		}
		images = append(images, container{w.ref, v1.Config{Entrypoint: []string{w.entrypoint}, User: w.user}, []string{path}})
	}
	return images, nil
}

func layerOf(dir, name string, files ...file) (string, error) {
	path := filepath.Join(dir, name+".tar")
	return path, writeLayer(path, files)
}

// iptablesLinks are the names that Debian's package scripts would have made.
func iptablesLinks() []file {
	var links []file
	for _, family := range []string{"iptables", "ip6tables"} {
		for _, verb := range []string{"", "-save", "-restore"} {
			links = append(links, file{Path: "usr/sbin/" + family + verb, Link: "xtables-nft-multi"})
		}
	}
	return links
}

// saveArchive writes the images as one archive that container engines load.
func saveArchive(path string, containers ...container) error {
	images := map[name.Reference]v1.Image{}
	for _, c := range containers {
		ref, err := name.ParseReference(c.ref, name.WithDefaultRegistry("docker.io"))
		if err != nil {
			return fmt.Errorf("the image name %s: %w", c.ref, err)
		}
		if len(c.config.Env) == 0 {
			c.config.Env = []string{searchPath}
		}
		if images[ref], err = image(c.config, runtime.GOARCH, c.layers...); err != nil {
			return fmt.Errorf("putting %s together: %w", c.ref, err)
		}
	}
	return tarball.MultiRefWriteToFile(path, images)
}
