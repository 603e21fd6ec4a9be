package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/apimachinery/pkg/util/wait"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	// kubelet itself gives up dialling a plugin after 10 s, inside Register.
	registerWithin = 15 * time.Second
	// kubelet opens ListAndWatch right after it has accepted a registration.
	listWithin = 10 * time.Second
)

// plugin offers devices to the kubelet whose socket is in a directory, over every
// restart of kubelet.
type plugin struct {
	resource  string
	directory string
	devices   *devices
	tie       *registration
	log       *log.Logger
	reported  string // the last message, so that it is reported once

	// The pauses between attempts, and how long kubelet may take from accepting
	// a registration to asking for the devices.
	backoff    wait.Backoff
	listWithin time.Duration
}

// newPlugin makes a plugin for a resource, such as nvidia.com/gpu, in kubelet's
// device plugin directory. It fails when that directory's path is too long for
// a socket.
func newPlugin(resource, directory string, devices *devices, logger *log.Logger) (*plugin, error) {
	p := &plugin{
		resource:   resource,
		directory:  filepath.Clean(directory),
		devices:    devices,
		tie:        newRegistration(),
		log:        logger,
		backoff:    wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 10, Cap: 5 * time.Second},
		listWithin: listWithin,
	}
	if path := p.socketPath(); len(path) > longestSocketPath {
		return nil, fmt.Errorf("the socket's path %s has %d bytes and Linux allows %d: pass a shorter --directory", path, len(path), longestSocketPath)
	}
	return p, nil
}

// endpoint is the socket's file name. It bears the resource's name, so that
// two resources do not meet in the one directory all plugins share.
func (p *plugin) endpoint() string {
	return "fake-" + strings.ReplaceAll(p.resource, "/", "-") + ".sock"
}

func (p *plugin) socketPath() string { return filepath.Join(p.directory, p.endpoint()) }

func (p *plugin) kubeletPath() string {
	return filepath.Join(p.directory, filepath.Base(pluginapi.KubeletSocket))
}

// run offers the devices until ctx ends. When it returns, every stream has ended and
// the socket is removed. It never gives up: an error is logged once and is the state
// of the registration as long as it lasts.
func (p *plugin) run(ctx context.Context) {
	backoff := p.backoff
	for ctx.Err() == nil {
		p.attempt(ctx, &backoff)
	}
}

// attempt keeps one registration for as long as it lasts, and then pauses by the
// backoff, or until kubelet starts again.
func (p *plugin) attempt(ctx context.Context, backoff *wait.Backoff) {
	began := time.Now()
	var events <-chan fsnotify.Event
	// The watch begins before the look, so that no change is missed.
	watcher, err := watch(p.directory)
	if err == nil {
		defer func() { _ = watcher.Close() }()
		events = watcher.Events
		err = p.keepRegistered(ctx, watcher)
	}
	if ctx.Err() != nil {
		p.tie.lose(errors.New("the plugin is stopping"))
		return
	}
	p.tie.lose(err)
	p.report(fmt.Sprintf("not registered: %v; trying until it works", err))

	// A registration that lasted longer than the longest pause was a good one.
	if time.Since(began) > p.backoff.Cap {
		*backoff = p.backoff
	}
	pause := time.NewTimer(backoff.Step())
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
			return
		case event := <-events:
			if event.Name == p.kubeletPath() && event.Has(fsnotify.Create) {
				*backoff = p.backoff
				return
			}
		}
	}
}

// watch watches a directory for files that come and go.
func watch(directory string) (*fsnotify.Watcher, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("starting a file watch: %w (too many open files? sysctl -w fs.inotify.max_user_instances=512)", err)
	}
	if err := watcher.Add(directory); err != nil {
		return nil, errors.Join(
			fmt.Errorf("watching kubelet's device plugin directory %s: %w (is kubelet installed here? --directory names the directory)", directory, err),
			watcher.Close())
	}
	return watcher, nil
}

// keepRegistered serves, registers, and returns with the cause when the registration
// is lost.
func (p *plugin) keepRegistered(ctx context.Context, watcher *fsnotify.Watcher) error {
	kubelet, err := os.Lstat(p.kubeletPath())
	if err != nil {
		return fmt.Errorf("kubelet is not there: %w (is it running, and is --directory its device plugin directory?)", err)
	}
	own, err := listenSocket(p.socketPath())
	if err != nil {
		return err
	}
	defer own.remove()

	server := grpc.NewServer(grpc.WaitForHandlers(true))
	pluginapi.RegisterDevicePluginServer(server, &service{resource: p.resource, devices: p.devices, tie: p.tie})
	served := make(chan error, 1)
	go func() {
		defer close(served)
		served <- server.Serve(own)
	}()
	defer func() {
		server.Stop()
		_ = <-served
	}()

	if err := p.register(ctx); err != nil {
		return fmt.Errorf("registering %s with kubelet at %s: %w", p.resource, p.kubeletPath(), err)
	}
	p.tie.accept()

	late := time.NewTimer(p.listWithin)
	defer late.Stop()
	for {
		// Events only say that it is time to look: what counts is what is there.
		if err := own.check(); err != nil {
			return err
		}
		if err := sameLife("kubelet's socket", p.kubeletPath(), kubelet); err != nil {
			return err
		}
		if p.tie.ended() {
			return errors.New("kubelet hung up: it restarts, or it dropped the plugin")
		}
		if p.tie.state() == nil {
			p.report(fmt.Sprintf("registered with kubelet: %s, devices %s", p.resource, p.inventory()))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-served:
			return fmt.Errorf("serving at %s ended: %w", own.path, err)
		case <-late.C:
			if p.tie.state() != nil {
				return fmt.Errorf("kubelet accepted the registration but did not ask for the devices within %s", p.listWithin)
			}
		case <-p.tie.changed:
		case <-watcher.Events:
		case _ = <-watcher.Errors: // too many events to keep: look all the same
		}
	}
}

// register calls kubelet's Registration service once.
func (p *plugin) register(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, registerWithin)
	defer cancel()
	conn, err := grpc.NewClient("passthrough:kubelet",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", p.kubeletPath())
		}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	_, err = pluginapi.NewRegistrationClient(conn).Register(ctx, &pluginapi.RegisterRequest{
		Version:      pluginapi.Version,
		Endpoint:     p.endpoint(),
		ResourceName: p.resource,
		Options:      options(),
	})
	return err
}

// inventory lists the devices' ids.
func (p *plugin) inventory() string {
	table, _ := p.devices.list()
	return names(table)
}

// report logs a message, unless it is the one logged last.
func (p *plugin) report(message string) {
	if message != p.reported {
		p.reported = message
		p.log.Print(message)
	}
}
