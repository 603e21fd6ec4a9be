package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// A boundedDiscovery finds out which kinds an API server serves. A RESTMapper does so on
// first use and takes no context, so a server that accepts the question and never
// answers it would hold up a call beyond every bound, Ctrl-C included. Here the
// question is asked first, and waited for as long as the call's context allows.
type boundedDiscovery struct {
	mapper meta.RESTMapper
	known  sync.Map // schema.GroupVersionKind → true
}

// newClient is client.New with every call bounded by its context.
func newClient(config *rest.Config, scheme *runtime.Scheme) (client.Client, *boundedDiscovery, error) {
	asking, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, nil, err
	}
	// What nobody waits for any more must end too.
	asking.Timeout = LookWithin
	mapper, err := apiutil.NewDynamicRESTMapper(config, asking)
	if err != nil {
		return nil, nil, err
	}
	talking, err := client.NewWithWatch(config, client.Options{Scheme: scheme, Mapper: mapper})
	if err != nil {
		return nil, nil, err
	}
	d := &boundedDiscovery{mapper: mapper}
	return interceptor.NewClient(talking, d.first()), d, nil
}

// first are the calls that this suite makes, each with discovery before it.
func (d *boundedDiscovery) first() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if err := d.ask(ctx, c, object); err != nil {
				return err
			}
			return c.Get(ctx, key, object, options...)
		},
		List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if err := d.ask(ctx, c, list); err != nil {
				return err
			}
			return c.List(ctx, list, options...)
		},
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := d.ask(ctx, c, object); err != nil {
				return err
			}
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if err := d.ask(ctx, c, object); err != nil {
				return err
			}
			return c.Update(ctx, object, options...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := d.ask(ctx, c, object); err != nil {
				return err
			}
			return c.Patch(ctx, object, patch, options...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := d.ask(ctx, c, object); err != nil {
				return err
			}
			return c.Delete(ctx, object, options...)
		},
		Apply: func(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if of, ok := object.(interface {
				GroupVersionKind() schema.GroupVersionKind
			}); ok {
				if err := d.askFor(ctx, of.GroupVersionKind()); err != nil {
					return err
				}
			}
			return c.Apply(ctx, object, options...)
		},
	}
}

// ask finds out about the kind of an object, or of those in a list.
func (d *boundedDiscovery) ask(ctx context.Context, c client.Client, object runtime.Object) error {
	kind, err := c.GroupVersionKindFor(object)
	if err != nil {
		return err
	}
	if _, ok := object.(client.ObjectList); ok {
		kind.Kind = strings.TrimSuffix(kind.Kind, "List")
	}
	return d.askFor(ctx, kind)
}

func (d *boundedDiscovery) askFor(ctx context.Context, kind schema.GroupVersionKind) error {
	if _, known := d.known.Load(kind); known {
		return nil
	}
	answered := make(chan error, 1)
	go func() {
		_, err := d.mapper.RESTMapping(kind.GroupKind(), kind.Version)
		answered <- err
	}()
	select {
	case err := <-answered:
		switch {
		case err == nil:
			d.known.Store(kind, true)
		case errors.Is(err, context.DeadlineExceeded):
			return &Silence{Question: whichKinds, Cause: err}
		}
		return err
	case <-ctx.Done():
		return &Silence{Question: whichKinds, Cause: ctx.Err()}
	}
}

const whichKinds = "which kinds it serves (GET /api, /apis)"

// Silence is the error of an API server that took a question and did not answer it.
type Silence struct {
	Question string
	Cause    error
}

func (s *Silence) Error() string {
	return fmt.Sprintf("the API server was asked %s and gave no answer: %v", s.Question, s.Cause)
}

func (s *Silence) Unwrap() error { return s.Cause }
