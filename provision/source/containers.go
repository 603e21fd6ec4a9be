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

// searchPath is where programs are looked for in every image.
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

// containers lists the images the lab needs in its node, under the names that
// kubeadm, the manifests and the learner's files use. A tag is the version built.
func (n *node) containers(dir string, jobSetImage, kueueImage string) ([]container, error) {
	p := n.parts
	layer := func(name string, files ...file) (string, error) {
		path := filepath.Join(dir, name+".tar")
		return path, writeLayer(path, files)
	}
	one := func(ref, program, user string, entrypoint ...string) (container, error) {
		path, err := layer(program, file{Path: entrypoint[0][1:], From: filepath.Join(p.programs, program), Mode: 0o755})
		return container{ref, v1.Config{Entrypoint: entrypoint, User: user}, []string{path}}, err
	}
	etcd, err := n.modules.version("go.etcd.io/etcd/server/v3")
	if err != nil {
		return nil, err
	}
	coredns, err := n.modules.version("github.com/coredns/coredns")
	if err != nil {
		return nil, err
	}
	var images []container
	for _, wanted := range []struct {
		ref, program, user string
		entrypoint         []string
	}{
		// kubeadm's manifests name the program and look for it on the PATH.
		{"registry.k8s.io/etcd:" + etcd[1:] + "-0", "etcd", "", []string{"/usr/local/bin/etcd"}},
		{"registry.k8s.io/coredns/coredns:" + coredns, "coredns", "", []string{"/coredns"}},
		{pauseImage, "pause", anyUser, []string{"/pause"}},
		{jobSetImage, "jobset", anyUser, []string{"/manager"}},
		{kueueImage, "kueue", anyUser, []string{"/manager"}},
	} {
		image, err := one(wanted.ref, wanted.program, wanted.user, wanted.entrypoint...)
		if err != nil {
			return nil, err
		}
		images = append(images, image)
	}

	all, err := layer("kubernetes", file{Path: "usr/local/bin/kubernetes", From: filepath.Join(p.programs, "kubernetes"), Mode: 0o755})
	if err != nil {
		return nil, err
	}
	for _, component := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy"} {
		link, err := layer(component, file{Path: "usr/local/bin/" + component, Link: "kubernetes"})
		if err != nil {
			return nil, err
		}
		image := container{"registry.k8s.io/" + component + ":" + n.kubernetes, v1.Config{Entrypoint: []string{"/usr/local/bin/" + component}}, []string{all, link}}
		if component == "kube-proxy" {
			links, err := layer("iptables", iptablesLinks()...)
			if err != nil {
				return nil, err
			}
			image.layers = append(image.layers, filepath.Join(p.proxy, "root.tar"), links)
		}
		images = append(images, image)
	}

	files, err := busyboxFiles(p.debian)
	if err != nil {
		return nil, err
	}
	busybox, err := layer("busybox", files...)
	if err != nil {
		return nil, err
	}
	gpu, err := layer("fake-gpu", file{Path: "fake-gpu", From: filepath.Join(p.gpu, "fake-gpu"), Mode: 0o755})
	if err != nil {
		return nil, err
	}
	return append(images,
		container{n.pins.Image, v1.Config{Cmd: []string{"sh"}}, []string{busybox}},
		container{n.gpuImage, v1.Config{Entrypoint: []string{"/fake-gpu"}}, []string{gpu}}), nil
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
