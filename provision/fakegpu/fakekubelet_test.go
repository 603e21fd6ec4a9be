package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// fakeKubelet does to a plugin what kubelet v1.36 does: it wipes sockets from
// the directory before it listens, and on a registration it dials back, asks
// for the options, accepts, and keeps ListAndWatch open on a connection that it
// uses for Allocate as well.
type fakeKubelet struct {
	pluginapi.UnimplementedRegistrationServer
	directory string
	refusal   error // what Register answers, where not nil
	deaf      bool  // accepts, but never asks for the devices
	tidy      bool  // does not wipe the directory but replaces its own socket alone

	server *grpc.Server
	ctx    context.Context
	stop   context.CancelFunc
	calls  sync.WaitGroup

	mu   sync.Mutex
	conn *grpc.ClientConn // of the last registration
	record
}

// record is what a fake kubelet has seen.
type record struct {
	requests []*pluginapi.RegisterRequest
	arrivals []time.Time // of the requests
	options  *pluginapi.DevicePluginOptions
	lists    []map[string]string // by id, the health in each list received
	order    []string            // the ids of the last list, in its order
	streams  int                 // ListAndWatch streams open now
}

func startKubelet(t *testing.T, directory string, change ...func(*fakeKubelet)) *fakeKubelet {
	t.Helper()
	g := NewWithT(t)
	k := &fakeKubelet{directory: directory, server: grpc.NewServer(grpc.WaitForHandlers(true))}
	for _, c := range change {
		c(k)
	}
	k.ctx, k.stop = context.WithCancel(context.Background())
	if k.tidy {
		g.Expect(os.Remove(filepath.Join(directory, "kubelet.sock"))).To(Succeed())
	} else {
		wipe(t, directory)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(directory, "kubelet.sock"), Net: "unix"})
	g.Expect(err).NotTo(HaveOccurred())
	listener.SetUnlinkOnClose(false) // a killed kubelet leaves its socket's file
	pluginapi.RegisterRegistrationServer(k.server, k)
	k.calls.Go(func() { _ = k.server.Serve(listener) })
	t.Cleanup(k.kill)
	return k
}

// wipe removes every socket from a directory.
func wipe(t *testing.T, directory string) {
	t.Helper()
	g := NewWithT(t)
	entries, err := os.ReadDir(directory)
	g.Expect(err).NotTo(HaveOccurred())
	for _, entry := range entries {
		if entry.Type() != fs.ModeSocket {
			continue
		}
		if err := os.Remove(filepath.Join(directory, entry.Name())); !errors.Is(err, fs.ErrNotExist) {
			g.Expect(err).NotTo(HaveOccurred())
		}
	}
}

// kill ends the fake kubelet as SIGKILL does: connections break, files stay.
func (k *fakeKubelet) kill() {
	k.stop()
	k.server.Stop()
	k.calls.Wait()
}

func (k *fakeKubelet) Register(ctx context.Context, request *pluginapi.RegisterRequest) (*pluginapi.Empty, error) {
	k.mu.Lock()
	k.requests, k.arrivals = append(k.requests, request), append(k.arrivals, time.Now())
	k.mu.Unlock()
	if k.refusal != nil {
		return nil, k.refusal
	}
	conn, err := grpc.NewClient("passthrough:plugin",
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(k.directory, request.GetEndpoint()))
		}))
	if err != nil {
		return nil, err
	}
	options, err := pluginapi.NewDevicePluginClient(conn).GetDevicePluginOptions(ctx, &pluginapi.Empty{})
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	k.mu.Lock()
	k.options, k.conn = options, conn
	k.mu.Unlock()
	k.calls.Go(func() {
		defer func() { _ = conn.Close() }()
		if k.deaf {
			<-k.ctx.Done()
			return
		}
		k.listen(conn)
	})
	return &pluginapi.Empty{}, nil
}

// listen keeps one ListAndWatch stream open until either side ends it.
func (k *fakeKubelet) listen(conn *grpc.ClientConn) {
	stream, err := pluginapi.NewDevicePluginClient(conn).ListAndWatch(k.ctx, &pluginapi.Empty{})
	if err != nil {
		return
	}
	k.count(+1)
	defer k.count(-1)
	for {
		response, err := stream.Recv()
		if err != nil {
			return
		}
		list, order := map[string]string{}, []string(nil)
		for _, d := range response.GetDevices() {
			list[d.GetID()] = d.GetHealth()
			order = append(order, d.GetID())
		}
		k.mu.Lock()
		k.lists, k.order = append(k.lists, list), order
		k.mu.Unlock()
	}
}

func (k *fakeKubelet) count(change int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.streams += change
}

// seen returns a copy of the record as it is now.
func (k *fakeKubelet) seen() record {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.record
}

func (k *fakeKubelet) registrations() int { return len(k.seen().requests) }

func (k *fakeKubelet) openStreams() int { return k.seen().streams }

// allocatable is the last list of a stream that is still open, else nil.
func (k *fakeKubelet) allocatable() map[string]string {
	seen := k.seen()
	if len(seen.lists) == 0 || seen.streams == 0 {
		return nil
	}
	return seen.lists[len(seen.lists)-1]
}

// hangUp breaks the connection to the plugin and lives on.
func (k *fakeKubelet) hangUp() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.conn.Close()
}

// client is the plugin as kubelet reaches it.
func (k *fakeKubelet) client() pluginapi.DevicePluginClient {
	k.mu.Lock()
	defer k.mu.Unlock()
	return pluginapi.NewDevicePluginClient(k.conn)
}
