package preflight

import (
	"errors"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"gsb.test/jobset-e2e/e2e/internal/labtest"
)

// A quota of what no step makes is in nobody's way; one of what the steps make is.
func TestOnlyAQuotaOfWhatTheStepsUseIsUsedUp(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	none := func(resources ...corev1.ResourceName) corev1.ResourceQuota {
		quota := corev1.ResourceQuota{ObjectMeta: labtest.Named("none"), Status: corev1.ResourceQuotaStatus{Hard: corev1.ResourceList{}, Used: corev1.ResourceList{}}}
		for _, name := range resources {
			quota.Status.Hard[name], quota.Status.Used[name] = resource.MustParse("0"), resource.MustParse("0")
		}
		return quota
	}
	g.Expect(usedUp(none("services.loadbalancers", "services.nodeports", "persistentvolumeclaims", "requests.storage", "count/configmaps",
		"limits.ephemeral-storage", "count/deployments.apps", "secrets"))).To(BeEmpty())
	for _, needed := range []corev1.ResourceName{"pods", "services", "count/pods", "count/jobs.batch", "count/jobsets.jobset.x-k8s.io",
		"count/workloads.kueue.x-k8s.io", "requests.nvidia.com/gpu", "requests.cpu", "limits.memory", "cpu", "count/services"} {
		g.Expect(usedUp(none(needed))).To(HaveLen(1), string(needed))
	}
}

// Who asks has fewer rights than the controllers, which do not ask with them.
func TestARightThatThisUserLacksIsNotTheLabsFault(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.Interference.Parts[0].Err = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "", errors.New(`User "author" cannot create resource "pods" in API group ""`))
	g.Expect(FirstWrong(Judge(facts, pins))).To(BeNil())
}

func TestWhatAWebhookChangesOfAPodIsNamed(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	asked, back := aPod().Spec, aPod().Spec
	back.Containers[0].TerminationMessagePath, back.SchedulerName = "/dev/termination-log", corev1.DefaultSchedulerName
	g.Expect(changes(asked, back)).To(BeEmpty(), "the API server's own defaults are no change")
	back.Containers[0].Image = "mirror.local/busybox:1.35.0"
	back.InitContainers = []corev1.Container{{Name: "istio-init"}}
	back.SchedulerName = "volcano"
	g.Expect(changes(asked, back)).To(ConsistOf("the image of container leader", "an added container istio-init", "the schedulerName"))
}
