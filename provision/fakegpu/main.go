// Fakegpu is a kubelet device plugin that offers GPUs which do not exist. The
// scheduler, kubelet and Kueue treat them as any device: they are counted,
// allocated, and can fail. A container is told its own in NVIDIA_VISIBLE_DEVICES.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/validation"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// mostDevices keeps the list well below the 4 MiB that one gRPC message may
// have, and a slip of the finger from filling the memory.
const mostDevices = 1024

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	os.Exit(command(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// command runs the program and returns its exit status: 0 when it was asked to
// stop or to help, 1 when it failed, 2 for arguments it does not take.
func command(ctx context.Context, arguments []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("fake-gpu", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // errors and help are printed below, once
	resource := flags.String("resource", "nvidia.com/gpu", "extended resource to offer, as `domain/name`")
	count := flags.Int("count", 4, "number of devices")
	directory := flags.String("directory", strings.TrimSuffix(pluginapi.DevicePluginPath, "/"), "kubelet's device plugin `directory`")
	listen := flags.String("listen", ":9401", "`address` that serves /healthz and /devices over HTTP")

	err := flags.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprint(stdout, "Fake-gpu offers fake GPUs to the kubelet of this node.\n\nFlags:\n")
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return 0
	}
	if err == nil {
		err = checkArguments(*resource, *count, flags.Args())
	}
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "fake-gpu: %v\nfake-gpu --help lists the flags\n", err)
		return 2
	}

	logger := log.New(stderr, "", log.LstdFlags|log.Lmicroseconds)
	if err := offer(ctx, *resource, *count, *directory, *listen, logger); err != nil {
		logger.Printf("fake-gpu: %v", err)
		return 1
	}
	logger.Print("stopped")
	return 0
}

// checkArguments refuses what kubelet would refuse at every registration. The
// rule for the name is that of IsExtendedResourceName in k8s.io/kubernetes
// v1.36.3, pkg/apis/core/v1/helper.
func checkArguments(resource string, count int, rest []string) error {
	if len(rest) > 0 {
		return fmt.Errorf("unexpected argument %q", rest[0])
	}
	if count < 1 || count > mostDevices {
		return fmt.Errorf("--count %d: a node offers 1 to %d devices", count, mostDevices)
	}
	domain, _, found := strings.Cut(resource, "/")
	if !found || strings.HasSuffix(domain, "kubernetes.io") || strings.HasPrefix(resource, "requests.") {
		return fmt.Errorf("--resource %q: an extended resource is named domain/name, such as nvidia.com/gpu, outside kubernetes.io and requests.*", resource)
	}
	// A quota counts it as requests.<resource>, which must be a valid name too.
	if faults := validation.IsQualifiedName("requests." + resource); len(faults) > 0 {
		return fmt.Errorf("--resource %q: %s", resource, strings.Join(faults, "; "))
	}
	return nil
}

// offer runs the plugin and its HTTP server until ctx ends, which is no error,
// or the HTTP server fails.
func offer(ctx context.Context, resource string, count int, directory, listen string, logger *log.Logger) error {
	p, err := newPlugin(resource, directory, newDevices(count), logger)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listening for /healthz: %w (is another fake-gpu running here? --listen picks another address)", err)
	}
	logger.Printf("offering %d x %s in %s, HTTP on %s", count, resource, directory, listener.Addr())

	server := &http.Server{Handler: newHandler(p), ReadTimeout: 10 * time.Second, ErrorLog: logger}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		p.run(ctx)
		return nil
	})
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving /healthz on %s: %w", listener.Addr(), err)
		}
		return nil
	})
	group.Go(func() error {
		<-ctx.Done()
		return server.Close()
	})
	return group.Wait()
}
