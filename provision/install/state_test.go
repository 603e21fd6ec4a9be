package install

import (
	"context"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	jobsetv1alpha2 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/fixtures/fixturestest"
)

// labOf is a cluster that holds these objects.
func labOf(t *testing.T, objects ...client.Object) *Cluster {
	t.Helper()
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(errors.Join(clientgoscheme.AddToScheme(scheme), jobsetv1alpha2.AddToScheme(scheme))).To(Succeed())
	return &Cluster{Client: fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), kubeconfig: "k", pins: fixturestest.Pins(t)}
}

func workOf(run string) *jobsetv1alpha2.JobSet {
	j := &jobsetv1alpha2.JobSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train"}}
	if run != "" {
		j.Annotations = map[string]string{fixtures.RunAnnotation: run}
	}
	return j
}

func journal() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: fixtures.FaultJournal}}
}

func TestALabThatWasNeverCompleteIsMadeAnew(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(labOf(t).Abandoned(t.Context())).To(Equal("its making was not finished"))
	g.Expect(labOf(t, workOf("")).Abandoned(t.Context())).To(BeEmpty(), "a lab made before there was a mark has work in it")
}

func TestAnInterruptIsNoVerdictOnALab(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	silent := labOf(t)
	silent.Client = interceptor.NewClient(silent.Client.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, _ client.WithWatch, _ client.ObjectList, _ ...client.ListOption) error {
			<-ctx.Done()
			return ctx.Err()
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := silent.Abandoned(ctx)
	g.Expect(err).To(MatchError(context.Canceled))
}

func TestALabWithAFaultInItIsMadeAnewUnlessALearnerWorkedOnIt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(labOf(t).Faulty(t.Context(), "x")).To(BeEmpty())
	g.Expect(labOf(t, workOf("")).Faulty(t.Context(), "x")).To(BeEmpty())
	g.Expect(labOf(t, journal(), workOf("run-1")).Faulty(t.Context(), "x")).To(ContainSubstring("a fault was put into it"))
	_, err := labOf(t, journal(), workOf("")).Faulty(t.Context(), "x")
	g.Expect(err).To(MatchError(And(ContainSubstring("JobSet train"), ContainSubstring("make faults RESTORE=1 LAB_NAME=x"), ContainSubstring("make down up"))))
}

func node(unschedulable bool, taints ...corev1.Taint) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Spec: corev1.NodeSpec{Unschedulable: unschedulable, Taints: taints}}
}

func TestANodeTakesPodsAgain(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	prefer := corev1.Taint{Key: "lab.test/prefer", Effect: corev1.TaintEffectPreferNoSchedule}
	c := labOf(t, node(true, corev1.Taint{Key: "node-role.kubernetes.io/control-plane", Effect: corev1.TaintEffectNoSchedule}, prefer))
	g.Expect(c.MakeSchedulable(t.Context())).To(Equal("uncordoned, taint node-role.kubernetes.io/control-plane:NoSchedule removed"))
	now := &corev1.Node{}
	g.Expect(c.Get(t.Context(), client.ObjectKey{Name: "n"}, now)).To(Succeed())
	g.Expect(now.Spec.Unschedulable).To(Equal(false))
	g.Expect(now.Spec.Taints).To(Equal([]corev1.Taint{prefer}))
	g.Expect(c.MakeSchedulable(t.Context())).To(BeEmpty(), "a node that takes pods is left as it is")
}

func TestATaintThatFollowsFromTheNodesStateIsNamed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := labOf(t, node(false, corev1.Taint{Key: "node.kubernetes.io/disk-pressure", Effect: corev1.TaintEffectNoSchedule})).MakeSchedulable(ctx)
	g.Expect(err).To(MatchError(ContainSubstring("node n has the taint node.kubernetes.io/disk-pressure:NoSchedule")))
}

func lease(renewed time.Duration, holder string) *coordinationv1.Lease {
	at := metav1.NewMicroTime(time.Now().Add(renewed))
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fixtures.RunLease},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: ptr.To(holder), RenewTime: &at, AcquireTime: &at, LeaseDurationSeconds: ptr.To[int32](30)}}
}

func TestALabIsLeftAloneWhileARunIsOnIt(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	g.Expect(labOf(t).RefuseInUse(t.Context(), "x")).To(Succeed())
	g.Expect(labOf(t, lease(-31*time.Second, "lab-e2e run")).RefuseInUse(t.Context(), "x")).To(Succeed(), "a hold that has run out is none")
	g.Expect(labOf(t, lease(0, "")).RefuseInUse(t.Context(), "x")).To(Succeed(), "what was released has no holder")
	g.Expect(labOf(t, lease(-10*time.Second, "lab-e2e run by ann on host, process 7")).RefuseInUse(t.Context(), "x")).To(MatchError(
		MatchRegexp(`a run is on the lab x: lab-e2e run by ann on host, process 7, since \d\d:\d\d:\d\d\n.*runs out in (19|20) s`)))
}

func TestALabThatDoesNotAnswerCanBeRemoved(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	silent := labOf(t)
	silent.Client = interceptor.NewClient(silent.Client.(client.WithWatch), interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, _ client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			<-ctx.Done()
			return ctx.Err()
		},
	})
	began := time.Now()
	g.Expect(silent.RefuseInUse(t.Context(), "x")).To(Succeed())
	g.Expect(time.Since(began)).To(BeNumerically("<", askingTheLease+time.Second))
}
