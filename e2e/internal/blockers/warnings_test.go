package blockers

import (
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// placed is a pod that has its node, and of which the kubelet has not reported more.
func placed() *snapshot.Snapshot {
	s := labtest.OnItsWayJobSet()
	s.Seen.Since = s.Taken.Add(-time.Minute)
	s.Seen.Objects = []snapshot.ObjectHistory{{Kind: "JobSet", Name: "train", UID: "js", JobSet: "train"}, {Kind: "Pod", Name: "train-worker-0-0-x", UID: "pod", JobSet: "train"}}
	s.Pods[0].UID, s.Pods[0].Spec.NodeName, s.Pods[0].Status.StartTime = "pod", "n", ptr.To(metav1.Now())
	s.Pods[0].Labels[jobsetv1.ReplicatedJobNameKey], s.Pods[0].Labels[jobsetv1.JobIndexKey], s.Pods[0].Labels[batchv1.JobCompletionIndexAnnotation] = "worker", "0", "0"
	s.Pods[0].Spec.Containers = []corev1.Container{{Name: "main", Image: "busybox:1.35.0", Command: []string{"sleep", "86400"}}}
	return s
}

func warn(s *snapshot.Snapshot, at float64, reason, message string) {
	s.Events = append(s.Events, snapshot.Event{At: at, Type: corev1.EventTypeWarning, UID: "pod", Object: "Pod/train-worker-0-0-x", Reason: reason, Message: message, Count: 1})
}

func note(s *snapshot.Snapshot, at float64, reason string) {
	s.Events = append(s.Events, snapshot.Event{At: at, Type: corev1.EventTypeNormal, UID: "pod", Object: "Pod/train-worker-0-0-x", Reason: reason})
}

// container sets what the kubelet says of the pod's only container.
func container(s *snapshot.Snapshot, now, before corev1.ContainerState, restarts int32) {
	s.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: now, LastTerminationState: before, RestartCount: restarts}}
}

func waiting(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func terminated(code int32, reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message}}
}

const noCommand = `exec: "sleep": executable file not found in $PATH`

func TestWhyAPodDoesNotStartIsReportedAndWhoseItIs(t *testing.T) {
	t.Parallel()
	none := corev1.ContainerState{}
	for name, pod := range map[string]struct {
		change  func(s *snapshot.Snapshot)
		code    snapshot.Code
		says    string
		learner bool
		within  time.Duration
	}{
		"no sandbox": {func(s *snapshot.Snapshot) {
			warn(s, 40, "FailedCreatePodSandBox", "no IP addresses available")
			note(s, 41, "SandboxChanged")
			warn(s, 52, "FailedCreatePodSandBox", "no IP addresses available")
		}, BlockedStart, "FailedCreatePodSandBox: no IP addresses available", false, 20 * time.Second},
		"a volume of the lab's": {func(s *snapshot.Snapshot) {
			warn(s, 50, "FailedMount", `MountVolume.SetUp failed for volume "kube-api-access-x"`)
			warn(s, 52, "FailedMount", `MountVolume.SetUp failed for volume "kube-api-access-x"`)
		}, BlockedStart, "FailedMount", false, 20 * time.Second},
		"a volume of the learner's": {func(s *snapshot.Snapshot) {
			s.JobSets[0].Spec.ReplicatedJobs[0].Template.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "data"}}
			warn(s, 50, "FailedMount", `MountVolume.SetUp failed for volume "data" : configmap "none" not found`)
		}, BlockedStart, `configmap "none" not found`, true, 30 * time.Second},
		"a warning that nobody thought of": {func(s *snapshot.Snapshot) {
			s.Pods[0].Status.Phase = corev1.PodRunning
			warn(s, 50, "SolarFlare", "bits flip")
			warn(s, 55, "SolarFlare", "bits flip")
		}, BlockedByWarning, "SolarFlare: bits flip", false, 15 * time.Second},
		"the lab's image is not there": {func(s *snapshot.Snapshot) { container(s, waiting("ImagePullBackOff", "Back-off"), none, 0) },
			BlockedStart, "ImagePullBackOff", false, 20 * time.Second},
		"another image is not there": {func(s *snapshot.Snapshot) {
			s.Pods[0].Spec.Containers[0].Image = "busybox:none"
			container(s, waiting("ErrImagePull", "not found"), none, 0)
		}, BlockedStart, "ErrImagePull", true, 20 * time.Second},
		"the lab's image has no shell": {func(s *snapshot.Snapshot) {
			container(s, waiting("CrashLoopBackOff", "back-off 10s"), terminated(128, "StartError", noCommand), 1)
		}, BlockedStart, "StartError: " + noCommand, false, 20 * time.Second},
		"between two tries": {func(s *snapshot.Snapshot) {
			container(s, waiting("ContainerCreating", ""), terminated(128, "StartError", noCommand), 1)
		}, BlockedStart, noCommand, false, 20 * time.Second},
		"no such command": {func(s *snapshot.Snapshot) {
			s.Pods[0].Spec.Containers[0].Command = []string{"python3"}
			container(s, waiting("RunContainerError", `exec: "python3"`), none, 0)
		}, BlockedStart, "python3", true, 20 * time.Second},
		"its program ends": {func(s *snapshot.Snapshot) {
			container(s, waiting("CrashLoopBackOff", "back-off 10s"), terminated(127, "Error", ""), 3)
		}, BlockedStart, "exit code 127", true, 20 * time.Second},
		"a Secret that is not there": {func(s *snapshot.Snapshot) {
			container(s, waiting("CreateContainerConfigError", `secret "x" not found`), none, 0)
		},
			BlockedStart, `secret "x" not found`, true, 20 * time.Second},
		"a device that is not given": {func(s *snapshot.Snapshot) { container(s, waiting("CreateContainerError", "no such device"), none, 0) },
			BlockedStart, "no such device", false, 20 * time.Second},
		"rejected by the kubelet": {func(s *snapshot.Snapshot) {
			s.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "UnexpectedAdmissionError", Message: "Allocate failed"}
		}, BlockedDisruption, "UnexpectedAdmissionError: Allocate failed", false, 15 * time.Second},
		"evicted": {func(s *snapshot.Snapshot) {
			s.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "The node was low on resource: memory"}
		}, BlockedDisruption, "low on resource", false, 15 * time.Second},
		"its own deadline": {func(s *snapshot.Snapshot) {
			s.Pods[0].Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "DeadlineExceeded"}
		}, BlockedDisruption, "DeadlineExceeded", true, 15 * time.Second},
		"the node is not Ready": {func(s *snapshot.Snapshot) {
			s.Nodes = []snapshot.Node{{Name: "n", NotReady: "NodeStatusUnknown: Kubelet stopped posting node status"}}
		}, BlockedNode, "Kubelet stopped posting", false, 15 * time.Second},
		"somebody's gate": {func(s *snapshot.Snapshot) {
			s.Pods[0].Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/hold"}}
			s.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
		}, BlockedScheduler, "gate example.com/hold", false, 15 * time.Second},
		"too many GPUs":                    {func(s *snapshot.Snapshot) { unplaced(s, 5) }, BlockedScheduler, "Insufficient nvidia.com/gpu", true, 15 * time.Second},
		"fewer GPUs than the lab promises": {func(s *snapshot.Snapshot) { unplaced(s, 1) }, BlockedScheduler, "Insufficient nvidia.com/gpu", false, 15 * time.Second},
	} {
		s := placed()
		pod.change(s)
		found := Find(s, []string{"train"})
		if found.Code != pod.code || !strings.Contains(found.Message, pod.says) || found.Learner != pod.learner {
			t.Errorf("%s: %+v", name, found)
		}
		if found.For > pod.within || found.For < permanentAfter {
			t.Errorf("%s ends a wait after %s", name, found.For)
		}
	}
}

// What passes by itself, or is long over, is no cause.
func TestAWarningThatIsOverIsNoCause(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(s *snapshot.Snapshot){
		"on its way": func(*snapshot.Snapshot) {},
		"it got on": func(s *snapshot.Snapshot) {
			warn(s, 40, "FailedCreatePodSandBox", "no network yet")
			warn(s, 50, "FailedCreatePodSandBox", "no network yet")
			note(s, 55, "Pulled")
		},
		"beside which a pod goes on": func(s *snapshot.Snapshot) { warn(s, 50, "DNSConfigForming", "too many nameservers") },
		"minutes ago":                func(s *snapshot.Snapshot) { warn(s, -300, "FailedMount", "timed out") },
		"the pod runs by now": func(s *snapshot.Snapshot) {
			warn(s, 50, "FailedMount", "timed out")
			run(s)
		},
		"its container was started again once": func(s *snapshot.Snapshot) {
			run(s)
			container(s, corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, terminated(1, "Error", ""), 1)
		},
		"a JobSet that got on": func(s *snapshot.Snapshot) {
			run(s)
			for _, at := range []float64{20, 22} {
				s.Events = append(s.Events, snapshot.Event{At: at, Type: corev1.EventTypeWarning, UID: "js", Reason: "JobCreationFailed", Message: "connection refused"})
			}
			note(s, 30, "Started")
		},
	} {
		s := placed()
		change(s)
		if found := Find(s, []string{"train"}); found.Code != "" {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

// unplaced leaves a pod of that many GPUs without a node.
func unplaced(s *snapshot.Snapshot, gpus int64) {
	s.Pods[0].Spec.NodeName = ""
	s.Pods[0].Spec.Containers[0].Resources.Limits = corev1.ResourceList{"nvidia.com/gpu": *quantity(gpus)}
	s.Pods[0].Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable,
		Message: "0/1 nodes are available: 1 Insufficient nvidia.com/gpu."}}
}

func TestWhatKueueHoldsIsReported(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]struct {
		change  func(s *snapshot.Snapshot)
		code    snapshot.Code
		says    string
		learner bool
	}{
		"deactivated": {func(s *snapshot.Snapshot) {
			s.Workloads[0].Spec.Active = ptr.To(false)
			s.Workloads[0].Status.Conditions = []metav1.Condition{{Type: kueuev1.WorkloadEvicted, Status: metav1.ConditionTrue, Reason: "DeactivatedDueToRequeuingLimitExceeded", Message: "exceeding the maximum number of re-queuing retries"}}
		}, BlockedWorkload, "RequeuingLimitExceeded", false},
		"an AdmissionCheck": {func(s *snapshot.Snapshot) {
			labtest.Reserve(s, metav1.ConditionTrue, "QuotaReserved", "")
			s.Workloads[0].Status.AdmissionChecks = []kueuev1.AdmissionCheckState{{Name: "budget", State: kueuev1.CheckStatePending, Message: "nobody approves"}}
		}, BlockedCheck, "AdmissionCheck budget: Pending: nobody approves", false},
		"preempted": {func(s *snapshot.Snapshot) {
			labtest.Reserve(s, metav1.ConditionFalse, "Pending", "couldn't assign flavors")
			s.Workloads[0].Status.Conditions = append(s.Workloads[0].Status.Conditions, metav1.Condition{Type: kueuev1.WorkloadEvicted, Status: metav1.ConditionTrue,
				Reason: "Preempted", Message: "Preempted to accommodate a workload (UID: other) due to prioritization in the ClusterQueue"})
		}, BlockedKueue, "to accommodate a workload (UID: other)", false},
		"more than the quota": {func(s *snapshot.Snapshot) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors = []kueuev1.FlavorQuotas{{Resources: []kueuev1.ResourceQuota{{Name: "nvidia.com/gpu", NominalQuota: *quantity(3)}}}}
			labtest.Reserve(s, metav1.ConditionFalse, "Pending", "insufficient quota")
		}, BlockedKueue, "insufficient quota", true},
		"others hold the quota": {func(s *snapshot.Snapshot) {
			s.ClusterQueue.Spec.ResourceGroups[0].Flavors = []kueuev1.FlavorQuotas{{Resources: []kueuev1.ResourceQuota{{Name: "nvidia.com/gpu", NominalQuota: *quantity(3)}}}}
			s.ClusterQueue.Status.FlavorsReservation = []kueuev1.FlavorUsage{{Resources: []kueuev1.ResourceUsage{{Name: "nvidia.com/gpu", Total: *quantity(2)}}}}
			labtest.Reserve(s, metav1.ConditionFalse, "Pending", "insufficient unused quota")
		}, BlockedKueue, "insufficient unused quota", false},
		"a queue of the learner's own naming": {func(s *snapshot.Snapshot) {
			s.JobSets[0].Labels["kueue.x-k8s.io/queue-name"] = "gpu"
		}, BlockedQueue, "LocalQueue gpu", true},
		"deleted": {func(s *snapshot.Snapshot) {
			s.JobSets = nil
			s.Seen.Objects = []snapshot.ObjectHistory{{Kind: "JobSet", Name: "train", JobSet: "train", Transitions: []snapshot.Transition{{State: snapshot.StateGone}}}}
		}, BlockedDeletion, "JobSet train was deleted", false},
	} {
		s := labtest.QueuedJobSet()
		held.change(s)
		found := Find(s, []string{"train"})
		if found.Code != held.code || !strings.Contains(found.Message, held.says) || found.Learner != held.learner {
			t.Errorf("%s: %+v", name, found)
		}
	}
}

func quantity(n int64) *resource.Quantity { return resource.NewQuantity(n, resource.DecimalSI) }
