package faults

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/fixtures"
)

// entriesKey holds the entries, compressed: an object may be larger than the
// 1 MiB that a ConfigMap holds.
const entriesKey = "entries.json.gz"

// A journal lists what a fault changes in the lab, in order, and how each thing
// was before. It is a ConfigMap in the lab itself, written before the first
// change, so that the lab can be restored from any machine after the program was
// killed.
type journal struct {
	client client.Client

	// fault is the fault's name, run the id of the run that makes it, holder who
	// runs it, since when it began.
	fault, run, holder string
	since              time.Time

	mu      sync.Mutex
	entries []entry
	// config is the ConfigMap as it was last written; nil before that.
	config *corev1.ConfigMap
}

// An entry is one change: of an object, or by a command on the node.
type entry struct {
	Object *Object `json:"object,omitempty"`
	// Before is the object right before this change; nil if it was absent.
	Before *unstructured.Unstructured `json:"before,omitempty"`
	// Known reports that Before has been read. The entry of an object that an earlier
	// action changes too is completed right before its own action; until then,
	// its own action has not been taken.
	Known bool `json:"known,omitempty"`

	Node *nodeChange `json:"node,omitempty"`
}

// A nodeChange is a command on the node. ID is the name under which it runs there.
type nodeChange struct {
	ID    string `json:"id"`
	Undo  string `json:"undo,omitempty"`
	Prove string `json:"prove,omitempty"`
}

// String names what an entry is about.
func (e entry) String() string {
	if e.Node != nil {
		return "the node, by command " + e.Node.ID
	}
	if e.Known && e.Before == nil {
		return e.Object.String() + ", which was absent"
	}
	return e.Object.String()
}

// same reports whether two references are to one object, in whatever version of its API.
func (o Object) same(other Object) bool {
	group := func(o Object) string {
		version, err := schema.ParseGroupVersion(o.APIVersion)
		if err != nil {
			return o.APIVersion
		}
		return version.Group
	}
	return o.Kind == other.Kind && o.Namespace == other.Namespace && o.Name == other.Name && group(o) == group(other)
}

// list returns a copy of the entries.
func (j *journal) list() []entry {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.entries)
}

// set completes an entry and writes the journal.
func (j *journal) set(ctx context.Context, at int, e entry) error {
	j.mu.Lock()
	j.entries[at] = e
	j.mu.Unlock()
	return j.write(ctx)
}

// write creates the ConfigMap, or updates the one that this journal created. It
// never writes over a journal of somebody else.
func (j *journal) write(ctx context.Context) error {
	entries := j.list()
	compressed, err := compress(entries)
	if err != nil {
		return fmt.Errorf("writing the fault journal: %w", err)
	}
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceSystem, Name: fixtures.FaultJournal, Annotations: map[string]string{fixtures.RunAnnotation: j.run}}}
	if j.config != nil {
		config.UID, config.ResourceVersion = j.config.UID, j.config.ResourceVersion
	}
	var changes strings.Builder
	for i, e := range entries {
		fmt.Fprintf(&changes, "%d %s\n", i+1, e)
	}
	config.Data = map[string]string{"fault": j.fault, "holder": j.holder, "since": j.since.UTC().Format(time.RFC3339),
		"changes": changes.String(), "restore": howToRestore}
	config.BinaryData = map[string][]byte{entriesKey: compressed}
	if j.config == nil {
		err = j.client.Create(ctx, config)
	} else {
		err = j.client.Update(ctx, config)
	}
	switch {
	case apierrors.IsAlreadyExists(err):
		other, read := readJournal(ctx, j.client)
		if read == nil && other != nil && other.run != j.run {
			return other.refusal()
		}
		return errors.Join(fmt.Errorf("writing the fault journal: %w", err), read)
	case err != nil:
		return fmt.Errorf("writing the fault journal, ConfigMap %s in %s: %w", config.Name, config.Namespace, err)
	}
	j.config = config
	return nil
}

// readJournal reads the journal that lies in the lab; nil if there is none.
func readJournal(ctx context.Context, from client.Client) (*journal, error) {
	config := &corev1.ConfigMap{}
	err := from.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: fixtures.FaultJournal}, config)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the fault journal: %w", err)
	}
	j := &journal{client: from, config: config, run: config.Annotations[fixtures.RunAnnotation],
		fault: config.Data["fault"], holder: config.Data["holder"]}
	if j.entries, err = decompress(config.BinaryData[entriesKey]); err == nil {
		j.since, err = time.Parse(time.RFC3339, config.Data["since"])
	}
	if err != nil {
		return nil, fmt.Errorf("ConfigMap %s in %s, the journal of a fault, cannot be read: %w.\n"+
			"  Restore the lab by hand, then: kubectl -n %s delete configmap %s", config.Name, config.Namespace, err, config.Namespace, config.Name)
	}
	return j, nil
}

// refusal says that a fault is still in the lab, and how to end that.
func (j *journal) refusal() error {
	return fmt.Errorf("fault %s is still in this lab, since %s, by %s (run %s).\n  To restore the lab, type: %s",
		j.fault, j.since.Format(time.RFC3339), j.holder, j.run, howToRestore)
}

// remove deletes the ConfigMap, once all that it lists is restored. It asks for
// the ConfigMap first: a creation may have succeeded though its answer was lost.
func (j *journal) remove(ctx context.Context) error {
	if j == nil {
		return nil
	}
	config := &corev1.ConfigMap{}
	err := j.client.Get(ctx, client.ObjectKey{Namespace: metav1.NamespaceSystem, Name: fixtures.FaultJournal}, config)
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return fmt.Errorf("removing the fault journal: %w", err)
	case config.Annotations[fixtures.RunAnnotation] != j.run:
		return nil // somebody else's: this fault never had one
	}
	err = j.client.Delete(ctx, config, client.Preconditions{UID: ptr.To(config.UID), ResourceVersion: ptr.To(config.ResourceVersion)})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("removing the fault journal: %w", err)
	}
	return nil
}

func compress(entries []entry) ([]byte, error) {
	var out bytes.Buffer
	writer := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(writer).Encode(entries), writer.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func decompress(content []byte) ([]entry, error) {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		return nil, err
	}
	var entries []entry
	return entries, json.Unmarshal(plain, &entries)
}
