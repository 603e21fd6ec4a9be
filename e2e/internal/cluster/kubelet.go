package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// A Kubelet is what a node's kubelet reports of itself when it is asked through the
// API server (GET nodes/NAME/proxy): the part of its configuration that decides
// how long an image stays on the node, and how full the node's disks are.
type Kubelet struct {
	// Unread is why it reported nothing; all below is then unknown.
	Unread error

	// ImagesReported is how many images the node's status lists at most; -1 is all.
	ImagesReported int
	// CollectFrom is the percentage of the images' disk in use from which on
	// images that no container uses are removed; 100 is never. MaximumAge is how
	// long an unused image may stay in any case, such as "168h0m0s"; "0s" is for ever.
	CollectFrom int
	MaximumAge  string
	// Domain is the DNS domain that it tells pods, such as cluster.local.
	Domain string
	// DNS are the addresses at which it tells pods to ask.
	DNS []string
	// Disks are the disk of the images and that of the node, often the same one.
	Disks []Disk
}

// A Disk is one of a node's file systems.
type Disk struct {
	Name                string // images or node
	Available, Capacity uint64 // in bytes
	// Evict is how much must stay available, as the kubelet writes it ("5%",
	// "1Gi"): with less it removes every unused image, and then evicts pods.
	Evict string
}

// Used is the percentage in use, rounded as the kubelet's image manager rounds it.
func (d Disk) Used() int {
	if d.Capacity == 0 {
		return 0
	}
	return 100 - int(d.Available*100/d.Capacity)
}

// EvictFrom is the percentage in use from which on the kubelet evicts; 100 is never.
func (d Disk) EvictFrom() int {
	if percent, ok := strings.CutSuffix(d.Evict, "%"); ok {
		kept, err := strconv.ParseFloat(percent, 64)
		if err != nil {
			return 100
		}
		return 100 - int(kept)
	}
	kept, err := resource.ParseQuantity(d.Evict)
	if err != nil || d.Capacity == 0 {
		return 100
	}
	return 100 - int(uint64(kept.Value())*100/d.Capacity)
}

// AskKubelet asks a node's kubelet. A cluster may refuse that to anybody; the
// answer then says so and is no error.
func AskKubelet(ctx context.Context, w *Cluster, node string) *Kubelet {
	ask := func(path ...string) ([]byte, error) {
		ctx, cancel := Brief(ctx)
		defer cancel()
		return w.Clientset.CoreV1().RESTClient().Get().Resource("nodes").Name(node).SubResource("proxy").Suffix(path...).Do(ctx).Raw()
	}
	configuration, err := ask("configz")
	if err != nil {
		return &Kubelet{Unread: fmt.Errorf("asking it for its configuration: %w", err)}
	}
	summary, err := ask("stats", "summary")
	if err != nil {
		return &Kubelet{Unread: fmt.Errorf("asking it for its disks: %w", err)}
	}
	kubelet, err := readKubelet(configuration, summary)
	if err != nil {
		return &Kubelet{Unread: err}
	}
	return kubelet
}

// readKubelet reads the answers to /configz and /stats/summary.
func readKubelet(configuration, summary []byte) (*Kubelet, error) {
	var config struct {
		Kubelet *struct {
			NodeStatusMaxImages         int               `json:"nodeStatusMaxImages"`
			ImageGCHighThresholdPercent int               `json:"imageGCHighThresholdPercent"`
			ImageMaximumGCAge           string            `json:"imageMaximumGCAge"`
			ClusterDomain               string            `json:"clusterDomain"`
			ClusterDNS                  []string          `json:"clusterDNS"`
			EvictionHard                map[string]string `json:"evictionHard"`
		} `json:"kubeletconfig"`
	}
	if err := json.Unmarshal(configuration, &config); err != nil || config.Kubelet == nil {
		return nil, fmt.Errorf("its configuration cannot be read: %.80q", configuration)
	}
	type fileSystem struct {
		Available uint64 `json:"availableBytes"`
		Capacity  uint64 `json:"capacityBytes"`
	}
	var stats struct {
		Node struct {
			FS      *fileSystem `json:"fs"`
			Runtime struct {
				ImageFS *fileSystem `json:"imageFs"`
			} `json:"runtime"`
		} `json:"node"`
	}
	if err := json.Unmarshal(summary, &stats); err != nil || stats.Node.FS == nil {
		return nil, fmt.Errorf("what it says of its disks cannot be read: %.80q", summary)
	}
	images := stats.Node.Runtime.ImageFS
	if images == nil {
		images = stats.Node.FS
	}
	return &Kubelet{
		ImagesReported: config.Kubelet.NodeStatusMaxImages,
		CollectFrom:    config.Kubelet.ImageGCHighThresholdPercent,
		MaximumAge:     config.Kubelet.ImageMaximumGCAge,
		Domain:         config.Kubelet.ClusterDomain,
		DNS:            config.Kubelet.ClusterDNS,
		Disks: []Disk{
			{Name: "images", Available: images.Available, Capacity: images.Capacity, Evict: config.Kubelet.EvictionHard["imagefs.available"]},
			{Name: "node", Available: stats.Node.FS.Available, Capacity: stats.Node.FS.Capacity, Evict: config.Kubelet.EvictionHard["nodefs.available"]},
		},
	}, nil
}
