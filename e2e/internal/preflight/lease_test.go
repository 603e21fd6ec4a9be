package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/internal/ownership"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/fixtures"
)

// A Lease runs out within a second or two in these tests.
func TestMain(m *testing.M) {
	ownership.LeaseStands, ownership.LeaseRenewed = 2*time.Second, 100*time.Millisecond
	ownership.LeaseDeadline, ownership.LeaseWatched = time.Second, time.Second
	os.Exit(m.Run())
}

func run(t *testing.T, id string, c *fake.Clientset) *cluster.Cluster {
	t.Helper()
	return &cluster.Cluster{Pins: labtest.Pinned(t), Settings: settings.Settings{Run: id}, Clientset: c}
}

func leaseIn(t *testing.T, cluster *fake.Clientset) *coordinationv1.Lease {
	t.Helper()
	lease, err := cluster.CoordinationV1().Leases("ml").Get(t.Context(), fixtures.RunLease, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return lease
}

func notLost(t *testing.T) func(error) {
	return func(err error) { t.Errorf("the lab was lost: %v", err) }
}

func TestOnlyOneRunHoldsTheLabAndItLeavesNothing(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientset()
	release, err := ownership.Hold(t.Context(), run(t, "first", cluster), "lab-e2e run", notLost(t))
	if err != nil {
		t.Fatal(err)
	}
	began := *leaseIn(t, cluster)
	_, err = ownership.Hold(t.Context(), run(t, "second", cluster), "lab-e2e run", notLost(t))
	var occupied *ownership.Occupied
	if !errors.As(err, &occupied) {
		t.Fatalf("a second run holds the lab too: %v", err)
	}
	for _, word := range []string{"lab-e2e run, ", "process ", "run first", "since 20", "Lease ml/gsb-jobset-run runs out at 20"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
	facts := &Facts{}
	if err := facts.Held(err); err == nil || facts.Occupied == nil {
		t.Errorf("it goes on: %v", err)
	}
	// What the first run starts itself holds nothing, and lets nothing go.
	guest, err := ownership.Hold(t.Context(), run(t, "first", cluster), "lab-e2e run", notLost(t))
	if err != nil {
		t.Fatalf("a run of its own is refused: %v", err)
	}
	if err := guest(t.Context()); err != nil || leaseIn(t, cluster) == nil {
		t.Errorf("a run of its own let the lab go: %v", err)
	}
	eventually(t, "renewed", func() bool { return leaseIn(t, cluster).Spec.RenewTime.After(began.Spec.RenewTime.Time) })
	if now := leaseIn(t, cluster); now.Annotations[fixtures.RunAnnotation] != "first" {
		t.Errorf("renewed without the run's id: %v", now.Annotations)
	}
	if err := release(t.Context()); err != nil || leaseIn(t, cluster) != nil {
		t.Errorf("the Lease is left: %v, %v", leaseIn(t, cluster), err)
	}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		if is() {
			return
		}
	}
	t.Errorf("it is not %s", what)
}

// leaseOf is what a run of another machine has left.
func leaseOf(holder string, renewed time.Time) *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fixtures.RunLease, UID: "its",
		Annotations: map[string]string{fixtures.RunAnnotation: holder}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: ptr.To(int32(2)),
			AcquireTime: &metav1.MicroTime{Time: renewed}, RenewTime: &metav1.MicroTime{Time: renewed}}}
}

func TestALeaseIsTakenOverOnlyWhenItHasRunOut(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientset(leaseOf("killed", time.Now().Add(-time.Minute)))
	release, err := ownership.Hold(t.Context(), run(t, "second", cluster), "lab-e2e run", notLost(t))
	if err != nil || !strings.HasSuffix(*leaseIn(t, cluster).Spec.HolderIdentity, "run second") {
		t.Fatalf("not taken over: %v", err)
	}
	if err := release(t.Context()); err != nil {
		t.Error(err)
	}

	// One that seems to have run out and is renewed is of a run whose clock is behind.
	cluster = fake.NewClientset(leaseOf("behind", time.Now().Add(-time.Minute)))
	renewed := leaseOf("behind", time.Now().Add(-time.Minute+time.Second))
	renewed.ResourceVersion = "2"
	asked := 0
	cluster.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		asked++
		return asked > 1, renewed, nil
	})
	var occupied *ownership.Occupied
	if _, err := ownership.Hold(t.Context(), run(t, "second", cluster), "lab-e2e run", notLost(t)); !errors.As(err, &occupied) {
		t.Errorf("taken from a run that goes on: %v", err)
	}
}

func TestARunThatLosesTheLabIsReported(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientset()
	// The fake API server takes any update; a real one refuses one of an old version.
	var refused atomic.Bool
	cluster.PrependReactor("update", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return refused.Load(), nil, apierrors.NewConflict(schema.GroupResource{Resource: "leases"}, fixtures.RunLease, errors.New("of an old version"))
	})
	lost := make(chan error, 1)
	release, err := ownership.Hold(t.Context(), run(t, "first", cluster), "lab-e2e run", func(err error) { lost <- err })
	if err != nil {
		t.Fatal(err)
	}
	theirs := leaseOf("somebody else", time.Now().Add(time.Minute))
	if _, err := cluster.CoordinationV1().Leases("ml").Update(t.Context(), theirs, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	refused.Store(true)
	select {
	case err := <-lost:
		if !errors.Is(err, ownership.ErrLost) || !strings.Contains(err.Error(), "somebody else") {
			t.Errorf("lost: %v", err)
		}
	case <-time.After(5 * time.Second):
		t.Error("nobody says that the lab was lost")
	}
	if err := release(t.Context()); err != nil || leaseIn(t, cluster) == nil {
		t.Errorf("the other run's Lease was deleted: %v", err)
	}
}

// An API server that does not answer for longer than the Lease stands, as in some
// faults, takes the lab from nobody.
func TestALeaseOutlivesAnAPIServerThatIsAway(t *testing.T) {
	t.Parallel()
	cluster := fake.NewClientset()
	var away atomic.Bool
	cluster.PrependReactor("*", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		return away.Load(), nil, errors.New("connection refused")
	})
	release, err := ownership.Hold(t.Context(), run(t, "first", cluster), "lab-e2e run", notLost(t))
	if err != nil {
		t.Fatal(err)
	}
	away.Store(true)
	<-time.After(3 * time.Second)
	away.Store(false)
	back := time.Now()
	eventually(t, "renewed again", func() bool { return leaseIn(t, cluster).Spec.RenewTime.After(back) })
	if err := release(t.Context()); err != nil || leaseIn(t, cluster) != nil {
		t.Errorf("the Lease is left: %v", err)
	}
}

func TestALabWithoutItsNamespaceOrWithoutTheRightToLeasesIsRunOn(t *testing.T) {
	t.Parallel()
	leases := schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"}
	for name, refusal := range map[string]error{
		"no namespace": apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ml"),
		"no right":     apierrors.NewForbidden(leases, fixtures.RunLease, errors.New("not yours")),
	} {
		cluster := fake.NewClientset()
		cluster.PrependReactor("create", "leases", func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, refusal })
		facts := theLab(labtest.Pinned(t))
		_, err := ownership.Hold(context.Background(), run(t, "first", cluster), "lab-e2e run", notLost(t))
		if err := facts.Held(err); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		reported := Table(Judge(facts, labtest.Pinned(t)))
		if noted := strings.Contains(reported, "nothing keeps a second run off this lab"); noted != apierrors.IsForbidden(refusal) {
			t.Errorf("%s: %s", name, reported)
		}
	}
	if err := (&Facts{}).Held(fmt.Errorf("etcd is gone")); err == nil {
		t.Error("any other error is passed over")
	}
}
