package ownership

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/fixtures"
)

// How long a Lease stands without being renewed, and how often it is renewed. What
// seems to have run out is watched for a while: the clock here may be another than
// the holder's.
var (
	LeaseStands   = 30 * time.Second
	LeaseRenewed  = 5 * time.Second
	LeaseDeadline = 20 * time.Second
	LeaseWatched  = 12 * time.Second
)

// ErrLost is how the cause begins why a run ends that lost its Lease.
var ErrLost = errors.New("the run lost the lab to another one")

// Hold takes the lab for this run, before anything in it is changed, by a Lease in
// its namespace, and renews it until release, which deletes it. An *Occupied is
// returned if another run holds it. lost is called if another one does so later,
// as after this machine was asleep. program is what runs, in the Lease's own words.
//
// A run that this one started, or that started it, is the same run: it holds
// nothing itself. A lab without its namespace has nothing to be held.
func Hold(ctx context.Context, w *cluster.Cluster, program string, lost func(error)) (release func(context.Context) error, err error) {
	lease := Lease(w, program)
	taken, err := lease.take(ctx)
	if err != nil || !taken {
		return func(context.Context) error { return nil }, err
	}
	keeping, stop := context.WithCancel(klog.NewContext(context.WithoutCancel(ctx), logr.Discard()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		lease.keep(keeping, lost)
	}()
	return func(ctx context.Context) error {
		stop()
		<-ended
		return lease.drop(ctx)
	}, nil
}

// A runLease is this run's wish for the Lease.
type runLease struct {
	client       coordinationclient.CoordinationV1Interface
	namespace    string
	run, holding string
}

func Lease(w *cluster.Cluster, program string) runLease {
	return runLease{client: w.Clientset.CoordinationV1(), namespace: w.Pins.Namespace, run: w.Settings.Run,
		holding: Holder(program) + ", run " + w.Settings.Run}
}

// Holder says in words who runs a program, and where.
func Holder(program string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "a host without a name"
	}
	who := "somebody"
	if found, err := user.Current(); err == nil {
		who = found.Username
	}
	return fmt.Sprintf("%s, %s@%s, process %d", program, who, host, os.Getpid())
}

func (l runLease) leases() coordinationclient.LeaseInterface { return l.client.Leases(l.namespace) }

// take makes the Lease, in place of one that has run out. Nothing is taken, and
// that is no error, where the lab's namespace is missing, and where the same run
// holds it already.
func (l runLease) take(ctx context.Context) (taken bool, err error) {
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	there, err := l.leases().Get(within, fixtures.RunLease, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return false, fmt.Errorf("asking whether another run is on the lab: %w", err)
	case there.Annotations[fixtures.RunAnnotation] == l.run:
		return false, nil
	default:
		if there, err = l.ranOut(ctx, there); err != nil {
			return false, err
		}
		if err := l.delete(ctx, there); err != nil {
			return false, fmt.Errorf("taking over the Lease of a run that is gone: %w", err)
		}
	}
	now := metav1.NowMicro()
	within, cancel = cluster.Brief(ctx)
	defer cancel()
	_, err = l.leases().Create(within, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: fixtures.RunLease, Namespace: l.namespace, Annotations: map[string]string{fixtures.RunAnnotation: l.run}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &l.holding, AcquireTime: &now, RenewTime: &now,
			LeaseDurationSeconds: ptr.To(int32(LeaseStands.Seconds()))},
	}, metav1.CreateOptions{FieldManager: cluster.FieldManager})
	switch {
	case apierrors.IsAlreadyExists(err): // another run was quicker
		if there, err = l.leases().Get(within, fixtures.RunLease, metav1.GetOptions{}); err == nil {
			return false, l.occupied(there)
		}
	case apierrors.IsNotFound(err): // the namespace is missing, which the preflight tells
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("holding the lab for this run: %w", err)
	}
	return true, nil
}

// ranOut returns the Lease as it is at last if it has run out and is not renewed
// any more, and an *Occupied if not.
func (l runLease) ranOut(ctx context.Context, there *coordinationv1.Lease) (*coordinationv1.Lease, error) {
	if ptr.Deref(there.Spec.HolderIdentity, "") == "" {
		return there, nil
	}
	if occupied := l.occupied(there); time.Now().Before(occupied.Until) {
		return nil, occupied
	}
	fmt.Fprintf(os.Stderr, "The Lease of another run has run out (%s); it is watched for %.0f s, lest that run is still there.\n",
		ptr.Deref(there.Spec.HolderIdentity, ""), LeaseWatched.Seconds())
	began := time.Now()
	err := wait.PollUntilContextCancel(ctx, time.Second, true, func(ctx context.Context) (bool, error) {
		within, cancel := cluster.Brief(ctx)
		defer cancel()
		now, err := l.leases().Get(within, fixtures.RunLease, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			return true, nil
		case err != nil:
			return false, err
		case now.ResourceVersion != there.ResourceVersion || now.UID != there.UID:
			return false, l.occupied(now)
		}
		return time.Since(began) >= LeaseWatched, nil
	})
	var occupied *Occupied
	if err != nil && !errors.As(err, &occupied) {
		err = fmt.Errorf("watching the Lease of another run: %w", err)
	}
	return there, err
}

func (l runLease) occupied(lease *coordinationv1.Lease) *Occupied {
	renewed := ptr.Deref(lease.Spec.RenewTime, metav1.MicroTime{Time: lease.CreationTimestamp.Time})
	return &Occupied{Lease: l.namespace + "/" + fixtures.RunLease, Holder: ptr.Deref(lease.Spec.HolderIdentity, "nobody that it names"),
		Since: ptr.Deref(lease.Spec.AcquireTime, renewed).Time,
		Until: renewed.Add(time.Duration(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0)) * time.Second)}
}

// keep renews the Lease until the context ends, or another run has it. An API server
// that does not answer for a while, as in some faults, is no reason to give it up.
func (l runLease) keep(ctx context.Context, lost func(error)) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	taken := func(holder string) {
		if holder != l.holding && holder != "" && ctx.Err() == nil {
			stop()
			lost(fmt.Errorf("%w: %s", ErrLost, holder))
		}
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{LeaseMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: fixtures.RunLease},
				Client: l.client, LockConfig: resourcelock.ResourceLockConfig{Identity: l.holding}},
			LeaseDuration: LeaseStands, RenewDeadline: LeaseDeadline, RetryPeriod: LeaseRenewed,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}, OnNewLeader: taken},
		})
		if err != nil { // only if the durations do not fit together
			panic(err)
		}
		elector.Run(ctx)
	}
}

// drop deletes the Lease if it is still this run's: a run leaves no object behind.
func (l runLease) drop(ctx context.Context) error {
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	there, err := l.leases().Get(within, fixtures.RunLease, metav1.GetOptions{})
	if err == nil && ptr.Deref(there.Spec.HolderIdentity, "") == l.holding {
		err = l.delete(ctx, there)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("the Lease %s/%s, which keeps other runs off this lab, could not be deleted; it runs out within %.0f s: %w",
			l.namespace, fixtures.RunLease, LeaseStands.Seconds(), err)
	}
	return nil
}

// delete deletes that very Lease, unless somebody has renewed or taken it since.
func (l runLease) delete(ctx context.Context, lease *coordinationv1.Lease) error {
	within, cancel := cluster.Brief(ctx)
	defer cancel()
	err := l.leases().Delete(within, lease.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion}})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Occupied is why a run is not begun: another one is on the lab.
type Occupied struct {
	Lease        string // namespace/name
	Holder       string
	Since, Until time.Time
}

func (o *Occupied) Error() string {
	const clock = "2006-01-02 15:04:05 MST"
	return fmt.Sprintf("another run is on this lab: %s, since %s. Wait for its end; if it was killed, its Lease %s runs out at %s "+
		"at the latest, and a run takes the lab over then", o.Holder, o.Since.Local().Format(clock), o.Lease, o.Until.Local().Format(clock))
}
