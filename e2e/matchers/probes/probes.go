// Package probes has the matchers of the claims that no step and no mistake shows: what must
// be true of what a lab answers to a question. Claims are listed in fixtures/claims.yaml.
package probes

import (
	"fmt"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// These matchers judge the lab, so they need no Korean sentence.

// BeOneK3s judges that the cluster is k3s, of one node.
func BeOneK3s() matchers.Matcher[snapshot.Machine] {
	return func(m snapshot.Machine) *matchers.Mismatch {
		if strings.Contains(m.Kubernetes, "+k3s") && len(m.Nodes) == 1 {
			return nil
		}
		return matchers.NewInternalMismatch(matchers.ClusterOther, "The cluster runs %s on %s.", m.Kubernetes, text.Times(len(m.Nodes), "node")).
			Row("version", "one of k3s, such as v1.36.3+k3s1", m.Kubernetes).Row("nodes", 1, len(m.Nodes))
	}
}

// RunJobSet judges the version of the JobSet controller.
func RunJobSet(wanted string) matchers.Matcher[snapshot.Machine] {
	return func(m snapshot.Machine) *matchers.Mismatch {
		if m.JobSet == wanted {
			return nil
		}
		return matchers.NewInternalMismatch(matchers.VersionOther, "JobSet is %s.", text.OrNone(m.JobSet)).Row("JobSet", wanted, text.OrNone(m.JobSet))
	}
}

// BootWithin judges that all parts of the lab were up so many seconds after its first start.
func BootWithin(seconds float64) matchers.Matcher[snapshot.Machine] {
	return func(m snapshot.Machine) *matchers.Mismatch {
		for _, part := range []string{"ClusterQueue", "LocalQueue", "jobset", "kueue"} {
			if at, up := m.Boot[part]; !up {
				return matchers.NewInternalMismatch(matchers.BootUnfinished, "The lab's %s is not up.", part).Row(part, fmt.Sprintf("up after %.0f s", seconds), "not up")
			} else if at > seconds {
				return matchers.NewInternalMismatch(matchers.BootSlow, "The lab's %s was up %.0f s after its first start.", part, at).
					Row(part, fmt.Sprintf("up after at most %.0f s", seconds), fmt.Sprintf("%.0f s", at))
			}
		}
		return nil
	}
}

// DefaultTo judges the successPolicy of a JobSet that was written without one.
func DefaultTo(operator jobsetv1.Operator) matchers.Matcher[jobsetv1.JobSetSpec] {
	return func(spec jobsetv1.JobSetSpec) *matchers.Mismatch {
		found := "none"
		if spec.SuccessPolicy != nil {
			found = string(spec.SuccessPolicy.Operator)
		}
		if found == string(operator) && len(spec.SuccessPolicy.TargetReplicatedJobs) == 0 {
			return nil
		}
		return matchers.NewInternalMismatch(matchers.SuccessPolicyWrong, "Left out, successPolicy becomes %s.", found).Row("operator, over all roles", operator, found)
	}
}

// HaveHostsOfItsService judges that JobSet made a headless Service of the JobSet's name,
// and that each pod's hostname is its place and its subdomain that Service.
func HaveHostsOfItsService() matchers.Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *matchers.Mismatch {
		if r := matchers.MissingJobSet(j); r != nil {
			return r
		}
		service := j.Service()
		if service == nil || service.Name != j.Name || service.Spec.ClusterIP != "None" {
			found := "none that it owns"
			if service != nil {
				found = fmt.Sprintf("%s, clusterIP %s", service.Name, service.Spec.ClusterIP)
			}
			return matchers.NewInternalMismatch(matchers.ServiceWrong, "JobSet %s has no headless Service of its name.", j.Name).Row("Service", j.Name+", clusterIP None", found)
		}
		pods := j.Pods().Items
		for _, pod := range pods {
			labels := pod.Labels
			wanted := fmt.Sprintf("%s-%s-%s-%s.%s", j.Name, labels[jobsetv1.ReplicatedJobNameKey], labels[jobsetv1.JobIndexKey], labels["batch.kubernetes.io/job-completion-index"], service.Name)
			if found := j.Snapshot.Answers.Hosts[pod.Name]; found != wanted {
				return matchers.NewInternalMismatch(matchers.HostWrong, "Pod %s has another hostname or subdomain.", pod.Name).Row("hostname.subdomain", wanted, text.OrNone(found))
			}
		}
		if len(pods) == 0 {
			return matchers.NewInternalMismatch(matchers.NoPod, "JobSet %s has no pod.", j.Name).Row("pods", "at least 1", 0)
		}
		return nil
	}
}

// AnswerOnlyInFull judges that a lookup finds a pod by its full name and not by the name
// without the domain that the pod's resolv.conf would let it add.
func AnswerOnlyInFull(resolvConf, short, full snapshot.File) matchers.Matcher[snapshot.Pod] {
	return func(pod snapshot.Pod) *matchers.Mismatch {
		if r := matchers.AnswerWithAddressOf(pod)(full); r != nil {
			return r
		}
		_, domain, _ := strings.Cut(pod.FullName(), pod.Of.Name+".")
		if !snapshot.Searches(resolvConf.Text, domain) {
			return matchers.NewInternalMismatch(matchers.SearchDomainMissing, "The pod's resolv.conf has no search domain %s that could be added.", domain).
				Row("search", domain, resolvConf.Quote())
		}
		name := short.Name[strings.LastIndex(short.Name, " ")+1:] // of the command
		lookup := snapshot.LookupIn(short.Text, name)
		for _, address := range lookup.Addresses {
			return matchers.NewInternalMismatch(matchers.SearchDomainAdded, "%s was answered, with %s.", short.Name, address).Row("answer", "none", address)
		}
		for _, other := range lookup.Others {
			return matchers.NewInternalMismatch(matchers.SearchDomainAdded, "%s was answered as %s, with %s.", short.Name, other.Name, other.Address).Row("answer", "none", other.Address)
		}
		// A name of no domain of the cluster is asked of the server's own server, which a lab
		// need not reach: then the lookup ends without an answer, and the full name has one.
		if lookup.Complaint == "" && !strings.Contains(short.Text, "timed out") {
			return matchers.NewInternalMismatch(matchers.LookupNoAnswer, "%s does not say that there is no answer.", short.Name).Row("answer", "NXDOMAIN, SERVFAIL or none in time", short.Quote())
		}
		return nil
	}
}

// BeSelectedAlone judges that a label selector gives this pod and no other.
func BeSelectedAlone(selector string) matchers.Matcher[snapshot.Pod] {
	return func(pod snapshot.Pod) *matchers.Mismatch {
		if r := matchers.MissingPod(pod); r != nil {
			return r
		}
		found := pod.Of.Snapshot.Answers.Selected[selector]
		if slices.Equal(found, []string{pod.Live.Name}) {
			return nil
		}
		return matchers.NewInternalMismatch(matchers.SelectionWrong, "The selector gives %s.", text.Times(len(found), "pod")).Row("pods", pod.Live.Name, text.List(found))
	}
}

// BeSelectedByName judges that the label jobset-name gives the pods of each JobSet and
// no others, and none for a name that no JobSet has.
func BeSelectedByName(selector func(jobSet string) string, nobody string) matchers.Matcher[*snapshot.Snapshot] {
	return func(s *snapshot.Snapshot) *matchers.Mismatch {
		pods := 0
		for _, name := range append(namesOf(s), nobody) {
			wanted := s.JobSet(name).Owned()
			found, asked := s.Answers.Selected[selector(name)]
			found = slices.Sorted(slices.Values(found))
			if !asked || !slices.Equal(found, wanted) {
				return matchers.NewInternalMismatch(matchers.SelectionWrong, "%s gives other pods than those of JobSet %s.", selector(name), name).
					Row("pods", text.List(wanted), text.List(found))
			}
			pods += len(found)
		}
		if pods == 0 {
			return matchers.NewInternalMismatch(matchers.NoPod, "No JobSet has a pod.").Row("pods", "at least 1", 0)
		}
		return nil
	}
}

// HaveRisenTogether judges by the history that the JobSet counted each restart and that
// pods of each attempt, and of no later one, were seen.
func HaveRisenTogether() matchers.Matcher[snapshot.JobSet] {
	return func(j snapshot.JobSet) *matchers.Mismatch {
		if r := matchers.HaveRestarted()(j); r != nil {
			return r
		}
		wanted := []string{}
		for attempt := range j.Restarts() + 1 {
			wanted = append(wanted, fmt.Sprint(attempt))
		}
		var found []string
		for _, pod := range j.Snapshot.Seen.Ever("Pod", j.Name) {
			found = append(found, pod.Attempt)
		}
		found = slices.Compact(slices.Sorted(slices.Values(found)))
		if !slices.Equal(found, wanted) {
			return matchers.NewInternalMismatch(matchers.PodOfOtherAttempt, "JobSet %s has status.restarts %d, and its pods were of the attempts %s.", j.Name, j.Restarts(), text.List(found)).
				Row("restart-attempt of all pods ever", text.List(wanted), text.List(found))
		}
		return matchers.AllBeOfAttempt(j.Restarts())(j.Pods())
	}
}
