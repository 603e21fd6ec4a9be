package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

var (
	errUnknownDevice = errors.New("unknown device")
	errUnknownHealth = errors.New("unknown health")
)

// device is one fake GPU. Health is a word of the device plugin API:
// pluginapi.Healthy or pluginapi.Unhealthy.
type device struct {
	ID     string `json:"id"`
	Health string `json:"health"`
}

// devices is the table of the fake GPUs on this node. Its ids depend on their
// number alone, so that they are the same after every start: kubelet keeps them
// in its checkpoint and gives a restarted container the device it had before.
type devices struct {
	mu      sync.Mutex
	table   []device
	changed chan struct{}
}

// newDevices makes count healthy devices: gpu-0, gpu-1 and so on.
func newDevices(count int) *devices {
	d := &devices{changed: make(chan struct{})}
	for i := range count {
		d.table = append(d.table, device{ID: fmt.Sprintf("gpu-%d", i), Health: pluginapi.Healthy})
	}
	return d
}

// list returns the devices as they are now, in their fixed order, and a channel
// that is closed once they are no longer like that.
func (d *devices) list() ([]device, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]device(nil), d.table...), d.changed
}

// setHealth switches one device and reports whether that changed anything. It
// fails with errUnknownDevice or errUnknownHealth and then changes nothing.
func (d *devices) setHealth(id, health string) (bool, error) {
	if health != pluginapi.Healthy && health != pluginapi.Unhealthy {
		return false, fmt.Errorf("%w %q: a device is %s or %s", errUnknownHealth, health, pluginapi.Healthy, pluginapi.Unhealthy)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.table {
		if d.table[i].ID != id {
			continue
		}
		if d.table[i].Health == health {
			return false, nil
		}
		d.table[i].Health = health
		close(d.changed)
		d.changed = make(chan struct{})
		return true, nil
	}
	return false, fmt.Errorf("%w %q: this node has %s", errUnknownDevice, id, names(d.table))
}

// names tells which devices there are, for a message.
func names(table []device) string {
	ids := make([]string, len(table))
	for i, d := range table {
		ids[i] = d.ID
	}
	return strings.Join(ids, ", ")
}
