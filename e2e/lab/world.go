package lab

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/fixtures"
)

// A World is the cluster that a run walks, reached through one kubeconfig, and
// what it is meant to be.
type World struct {
	Settings Settings
	Pins     fixtures.Pins

	config   *rest.Config
	client   client.Client
	clients  kubernetes.Interface
	recorder *Recorder
	devices  devices
	readOnly bool // see ConnectToRead

	// left is what a run leaves in the lab; see Leave.
	left string

	// watchUntil ends all watching, unwatch the present history's.
	watchUntil context.Context
	unwatch    context.CancelFunc

	// running ends when somebody interrupts the run, or it has lost the lab.
	running   context.Context
	interrupt context.CancelCauseFunc
}

// Connect reads the kubeconfig and makes the clients. It does not yet talk to
// the cluster: whether anybody answers is the preflight's first question.
func Connect(settings Settings) (*World, error) { return connect(settings, false) }

// ConnectToRead is Connect for a look that changes nothing: its clients let only
// requests through that read.
func ConnectToRead(settings Settings) (*World, error) { return connect(settings, true) }

func connect(settings Settings, readOnly bool) (*World, error) {
	pins, err := fixtures.ReadPins()
	if err != nil {
		return nil, err
	}
	config, err := readKubeconfig(settings.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%s is not a kubeconfig that can be used: %w.\n%s", settings.Kubeconfig, err, howToName)
	}
	// A look is eight lists, and looks come close upon each other.
	config.QPS, config.Burst = 100, 200
	config.UserAgent = fieldManager
	// Deprecation warnings are the controllers' business, not the reader's.
	config.WarningHandler = rest.NoWarnings{}
	if readOnly {
		config.Wrap(onlyReading)
	}

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, jobsetv1.AddToScheme, kueuev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the API types: %w", err)
		}
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client from %s: %w", settings.Kubeconfig, err)
	}
	world := &World{Settings: settings, Pins: pins, config: config, clients: clients, recorder: NewRecorder(), readOnly: readOnly}
	// The REST mapping is found on first use, so an unreachable cluster is no
	// error here.
	world.client, err = client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("making a client from %s: %w", settings.Kubeconfig, err)
	}
	return world, nil
}

// readKubeconfig reads that file and no other. client-go's usual way of doing it
// takes the cluster that the program itself runs in where the file says nothing.
func readKubeconfig(path string) (*rest.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return nil, err
	}
	return clientcmd.NewNonInteractiveClientConfig(*file, file.CurrentContext, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
}

// answers asks the API server for its version, briefly.
func (w *World) answers(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	body, err := w.clients.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	return parseVersion(body)
}

// brief bounds one question to the cluster.
func brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, lookWithin)
}
