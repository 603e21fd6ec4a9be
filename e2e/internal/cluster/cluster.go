// Package cluster reaches the lab through one kubeconfig: it reads, watches, execs,
// and tries again what was lost on the way. Nothing else opens a connection.
package cluster

import (
	"context"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// FieldManager is this suite's name in managedFields.
const FieldManager = "gsb-jobset-e2e"

// A Cluster is the lab's cluster, reached through one kubeconfig, and what it is
// meant to be.
type Cluster struct {
	Settings settings.Settings
	Pins     fixtures.Pins

	Config    *rest.Config
	API       client.Client
	discovery *boundedDiscovery
	Clientset kubernetes.Interface
	recorder  *snapshot.Recorder
	earlier   []*snapshot.Recorder // of the histories before this one
	devices   devices
	readOnly  bool // see ConnectToRead

	// LeftInLab says what a run leaves in the lab; see ownership.TearDown.
	LeftInLab string

	// others are JobSets that looks and the history leave out; see Beside.
	others []string

	// stopWatch ends the present history's watch, watchAgain begins the next one's.
	stopWatch  context.CancelFunc
	watchAgain func() error

	// Interruption ends the run early; nil where nothing can interrupt it.
	Interruption *Interruption
	// LastQuestion finds out, once, whether the API server still answers an
	// interrupted run: Deaf says that it does not.
	LastQuestion sync.Once
	Deaf         bool
}

// Connect reads the kubeconfig and makes the clients. It does not yet talk to
// the cluster: whether anybody answers is the preflight's first question.
func Connect(settings settings.Settings) (*Cluster, error) { return connect(settings, false) }

// ConnectToRead is Connect for a look that changes nothing: its clients let only
// requests through that read.
func ConnectToRead(settings settings.Settings) (*Cluster, error) { return connect(settings, true) }

func connect(chosen settings.Settings, readOnly bool) (*Cluster, error) {
	pins, err := fixtures.ReadPins()
	if err != nil {
		return nil, err
	}
	config, err := ReadKubeconfig(chosen.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%s is not a kubeconfig that can be used: %w.\n%s", chosen.Kubeconfig, err, settings.HowToName)
	}
	// A look is eight lists, and looks come close upon each other.
	config.QPS, config.Burst = 100, 200
	config.UserAgent = FieldManager
	// Deprecation warnings are the controllers' business, not the reader's.
	config.WarningHandler = rest.NoWarnings{}
	if readOnly {
		config.Wrap(OnlyReading)
	}

	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, jobsetv1.AddToScheme, kueuev1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, fmt.Errorf("registering the API types: %w", err)
		}
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a client from %s: %w", chosen.Kubeconfig, err)
	}
	target := &Cluster{Settings: chosen, Pins: pins, Config: config, Clientset: clients, recorder: snapshot.NewRecorder(), readOnly: readOnly}
	// The REST mapping is found on first use, so an unreachable cluster is no
	// error here.
	target.API, target.discovery, err = newClient(config, scheme)
	if err != nil {
		return nil, fmt.Errorf("making a client from %s: %w", chosen.Kubeconfig, err)
	}
	return target, nil
}

// Beside returns the same cluster with a history of its own, in which the named JobSets
// and what belongs to them are not seen. It watches nothing yet.
func (w *Cluster) Beside(others []string) *Cluster {
	return &Cluster{
		Settings: w.Settings, Pins: w.Pins, Config: w.Config, API: w.API, discovery: w.discovery, Clientset: w.Clientset,
		readOnly: w.readOnly, Interruption: w.Interruption, recorder: snapshot.NewRecorder(others...), others: others,
	}
}

// ReadKubeconfig reads that file and no other. client-go's usual way of doing it
// takes the cluster that the program itself runs in where the file says nothing.
func ReadKubeconfig(path string) (*rest.Config, error) {
	file, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return nil, err
	}
	if err := clientcmd.ResolveLocalPaths(file); err != nil {
		return nil, err
	}
	return clientcmd.NewNonInteractiveClientConfig(*file, file.CurrentContext, &clientcmd.ConfigOverrides{}, nil).ClientConfig()
}

// Version asks the API server for its version, briefly.
func (w *Cluster) Version(ctx context.Context) (version string, err error) {
	ctx, cancel := context.WithTimeout(ctx, LookWithin)
	defer cancel()
	body, err := w.Clientset.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	return ParseVersion(body)
}

// Brief bounds one question to the cluster.
func Brief(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, LookWithin)
}
