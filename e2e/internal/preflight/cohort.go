package preflight

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// collectLenders finds of whom the lab's ClusterQueue may borrow GPUs.
func collectLenders(ctx context.Context, w *cluster.Cluster, facts *Facts) error {
	queue, o := facts.ClusterQueue, &facts.Interference
	if queue == nil || queue.Spec.CohortName == "" {
		return nil
	}
	lend := func(kind, name string, groups []kueuev1.ResourceGroup) {
		var has int64
		for _, quota := range quotasOf(groups, w.Pins.GPUResource) {
			if quota.LendingLimit != nil {
				has += quota.LendingLimit.Value()
			} else {
				has += quota.NominalQuota.Value()
			}
		}
		if has > 0 {
			o.Lenders, o.Borrowable = append(o.Lenders, kind+"/"+name), o.Borrowable+has
		}
	}
	var (
		queues  kueuev1.ClusterQueueList
		cohorts kueuev1.CohortList
	)
	for _, list := range []client.ObjectList{&queues, &cohorts} {
		if err := w.API.List(ctx, list); err != nil {
			return err
		}
	}
	// Cohorts are a tree, and all of one tree lend to each other.
	root := rootOf(cohorts.Items)
	ours := root(string(queue.Spec.CohortName))
	for _, other := range queues.Items {
		if other.Name == queue.Name || root(string(other.Spec.CohortName)) != ours {
			continue
		}
		lend("ClusterQueue", other.Name, other.Spec.ResourceGroups)
		if borrowed := borrowedBy(other, w.Pins.GPUResource); borrowed > 0 {
			o.HoldingQuota = append(o.HoldingQuota, fmt.Sprintf("ClusterQueue/%s, which borrows %d × %s", other.Name, borrowed, w.Pins.GPUResource))
		}
	}
	for _, cohort := range cohorts.Items {
		if root(cohort.Name) == ours {
			lend("Cohort", cohort.Name, cohort.Spec.ResourceGroups)
		}
	}
	for _, quota := range quotasOf(queue.Spec.ResourceGroups, w.Pins.GPUResource) {
		if quota.BorrowingLimit != nil {
			o.Borrowable = min(o.Borrowable, quota.BorrowingLimit.Value())
		}
	}
	return nil
}

// rootOf returns a function that finds at whose top a cohort stands.
func rootOf(cohorts []kueuev1.Cohort) func(string) string {
	parent := map[string]string{}
	for _, cohort := range cohorts {
		parent[cohort.Name] = string(cohort.Spec.ParentName)
	}
	return func(name string) string {
		for range cohorts { // a circle, which Kueue refuses, ends too
			if parent[name] == "" {
				break
			}
			name = parent[name]
		}
		return name
	}
}

// borrowedBy is how many GPUs a ClusterQueue holds beyond its own quota.
func borrowedBy(queue kueuev1.ClusterQueue, gpu string) int64 {
	var borrowed int64
	for _, flavor := range queue.Status.FlavorsReservation {
		for _, r := range flavor.Resources {
			if string(r.Name) == gpu {
				borrowed += r.Borrowed.Value()
			}
		}
	}
	return borrowed
}
