package main

import (
	"errors"
	"sync"
)

// registration is the plugin's registration with kubelet. It holds while kubelet has
// accepted it and keeps a ListAndWatch stream open. The stream is the proof: kubelet
// opens it right after it accepts, it breaks when kubelet dies, and kubelet itself can
// drop an accepted plugin (its runClient, when an earlier stream of the same resource
// ends late, disconnects whichever client has that name by then: k8s.io/kubernetes
// v1.36.3, pkg/kubelet/cm/devicemanager/plugin/v1beta1).
type registration struct {
	mu       sync.Mutex
	accepted bool
	opened   bool // a stream was opened since the last reset
	open     int  // streams open now
	cause    error
	changed  chan struct{} // holds one token: something changed, look again
}

func newRegistration() *registration {
	return &registration{cause: errors.New("not tried yet"), changed: make(chan struct{}, 1)}
}

// state returns nil while the registration holds, else why it does not.
func (t *registration) state() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.accepted && t.open > 0 {
		return nil
	}
	return t.cause
}

// ended reports whether kubelet had opened a stream and none is left.
func (t *registration) ended() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened && t.open == 0
}

func (t *registration) accept() {
	t.update(func() {
		t.accepted = true
		t.cause = errors.New("kubelet accepted the registration but keeps no list of the devices open")
	})
}

func (t *registration) streamOpened() { t.update(func() { t.opened = true; t.open++ }) }

func (t *registration) streamClosed() { t.update(func() { t.open-- }) }

// lose ends the registration and keeps the cause. All streams must have ended.
func (t *registration) lose(cause error) {
	t.update(func() { t.accepted, t.opened, t.cause = false, false, cause })
}

func (t *registration) update(change func()) {
	t.mu.Lock()
	change()
	t.mu.Unlock()
	select {
	case t.changed <- struct{}{}:
	default: // a token nobody has taken yet tells as much
	}
}
