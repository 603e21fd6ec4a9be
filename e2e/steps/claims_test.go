package steps

import (
	"maps"
	"slices"
	"strings"

	jobsetv1 "sigs.k8s.io/jobset/api/jobset/v1alpha2"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

func machine(change func(*snapshot.Machine)) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { change(s.Answers.Machine) }
}

// cell changes what a table shows for the first object whose row has a text.
func cell(resource, row, column, shows string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		table := s.Answers.Tables[resource]
		at := slices.IndexFunc(table.Rows, func(cells []string) bool { return strings.HasPrefix(cells[0], row) })
		table.Rows[at][slices.Index(table.Columns, column)] = shows
	}
}

func withoutColumn(resource, column string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		table := s.Answers.Tables[resource]
		at := slices.Index(table.Columns, column)
		table.Columns = slices.Delete(table.Columns, at, at+1)
		for i := range table.Rows {
			table.Rows[i] = slices.Delete(table.Rows[i], at, at+1)
		}
		s.Answers.Tables[resource] = table
	}
}

func withoutRows(resource string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		s.Answers.Tables[resource] = snapshot.Table{Columns: s.Answers.Tables[resource].Columns}
	}
}

func selects(selector string, change func([]string) []string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Answers.Selected[selector] = change(s.Answers.Selected[selector]) }
}

// noServer is what busybox prints when no answer comes.
const noServer = "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n;; connection timed out; no servers could be reached\n\n"

// holding are, for a probe, other answers by which what is claimed is so too.
var holding = map[string][]variation{
	"no-search-domain": {
		{"the server's own server is not reached in time", prints(shortLookup, noServer)},
		{"there is no such name", prints(shortLookup, "Server:\t\t10.96.0.10\n\n** server can't find hello-leader-0-0.hello: NXDOMAIN\n\n")},
	},
}

func prints(command, text string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) { s.Answers.Printed[command] = text }
}

func hosts(change func(found string) string) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		for name, found := range s.Answers.Hosts {
			s.Answers.Hosts[name] = change(found)
		}
	}
}

func defaultsTo(policy *jobsetv1.SuccessPolicy) func(*snapshot.Snapshot) {
	return func(s *snapshot.Snapshot) {
		spec := s.Answers.DryRuns[withoutAny]
		spec.SuccessPolicy = policy
		s.Answers.DryRuns[withoutAny] = spec
	}
}

// refuting are, for each probe, answers by which what the lab text claims is not so.
var refuting = map[string][]variation{
	"one-k3s": {
		{"it is no k3s", machine(func(m *snapshot.Machine) { m.Kubernetes = "v1.36.3" })},
		{"there are two nodes", machine(func(m *snapshot.Machine) { m.Nodes["other"] = "k3s://other" })},
		{"there is no node", machine(func(m *snapshot.Machine) { m.Nodes = nil })},
	},
	"jobset-version": {
		{"an older version", machine(func(m *snapshot.Machine) { m.JobSet = "v0.12.0" })},
		{"a candidate of the version", machine(func(m *snapshot.Machine) { m.JobSet = "v0.13.0-rc.1" })},
		{"no version is known", machine(func(m *snapshot.Machine) { m.JobSet = "" })},
	},
	"boot-time": {
		{"Kueue was a second late", machine(func(m *snapshot.Machine) { m.Boot["kueue"] = 241 })},
		{"the queue was made by hand later", machine(func(m *snapshot.Machine) { m.Boot["LocalQueue"] = 600 })},
		{"JobSet never came up", machine(func(m *snapshot.Machine) { delete(m.Boot, "jobset") })},
	},
	"no-search-domain": {
		{"the short name is answered", func(s *snapshot.Snapshot) {
			s.Answers.Printed[shortLookup] = strings.ReplaceAll(s.Answers.Printed[fullLookup], ".ml.svc.cluster.local", "")
		}},
		{"the short name is answered as the full one", func(s *snapshot.Snapshot) { s.Answers.Printed[shortLookup] = s.Answers.Printed[fullLookup] }},
		{"the full name is not answered either", func(s *snapshot.Snapshot) { s.Answers.Printed[fullLookup] = s.Answers.Printed[shortLookup] }},
		{"there is no domain to add", prints(resolvConf, "nameserver 10.96.0.10\nsearch svc.cluster.local\n")},
		{"nobody answers", func(s *snapshot.Snapshot) {
			s.Answers.Printed[shortLookup] = noServer
			s.Answers.Printed[fullLookup] = noServer
		}},
		{"nothing is printed", prints(shortLookup, "")},
	},
	"parts-of-the-name": {
		{"no Service", func(s *snapshot.Snapshot) { s.Services = nil }},
		{"a Service of its name that somebody else made", func(s *snapshot.Snapshot) {
			for i := range s.Services {
				s.Services[i].OwnerReferences = nil
			}
		}},
		{"a Service with an address", func(s *snapshot.Snapshot) {
			for i := range s.Services {
				s.Services[i].Spec.ClusterIP = "10.96.0.7"
			}
		}},
		{"another subdomain", hosts(func(found string) string { return strings.TrimSuffix(found, ".hello") + ".other" })},
		{"no hostname", hosts(func(found string) string { return found[strings.Index(found, "."):] })},
		{"no pod", func(s *snapshot.Snapshot) { s.Pods = nil }},
	},
	"one-worker-selected": {
		{"none", selects(oneWorker, func([]string) []string { return nil })},
		{"two", selects(oneWorker, func(found []string) []string { return append(found, "hello-worker-0-0-aaaaa") })},
		{"another one", selects(oneWorker, func([]string) []string { return []string{"hello-worker-0-0-aaaaa"} })},
		{"it was not asked", func(s *snapshot.Snapshot) { s.Answers.Selected = nil }},
	},
	"attempt-rises": {
		{"status.restarts is ahead", func(s *snapshot.Snapshot) { jobSet(s, "fragile").Status.Restarts++ }},
		{"it did not restart", func(s *snapshot.Snapshot) { jobSet(s, "fragile").Status.Restarts = 0 }},
		{"a pod is of the old attempt", func(s *snapshot.Snapshot) { pod(s, "fragile-worker").Labels[attempt] = "0" }},
		{"no pod of the first attempt was ever seen", func(s *snapshot.Snapshot) {
			s.Seen.Objects = slices.DeleteFunc(s.Seen.Objects, func(o snapshot.ObjectHistory) bool {
				return o.Kind == "Pod" && o.JobSet == "fragile" && o.Attempt == "0"
			})
		}},
	},
	"all-is-the-default": {
		{"Any", defaultsTo(&jobsetv1.SuccessPolicy{Operator: jobsetv1.OperatorAny})},
		{"nothing", defaultsTo(nil)},
		{"All of one role", defaultsTo(&jobsetv1.SuccessPolicy{Operator: jobsetv1.OperatorAll, TargetReplicatedJobs: []string{"leader"}})},
		{"it was not asked", func(s *snapshot.Snapshot) { s.Answers.DryRuns = nil }},
	},
	"jobset-columns": {
		{"no column RESTARTS", withoutColumn("jobsets", "RESTARTS")},
		{"no column COMPLETED", withoutColumn("jobsets", "COMPLETED")},
		{"no column SUSPENDED", withoutColumn("jobsets", "SUSPENDED")},
		{"another count of restarts", cell("jobsets", "fragile", "RESTARTS", "0")},
		{"eval is shown as not completed", cell("jobsets", "eval", "COMPLETED", "")},
		{"big is shown as not suspended", cell("jobsets", "big", "SUSPENDED", "false")},
		{"no rows", withoutRows("jobsets")},
	},
	"workloads-listed": {
		{"no column ADMITTED", withoutColumn("workloads", "ADMITTED")},
		{"train is shown as not admitted", cell("workloads", "jobset-train", "ADMITTED", "")},
		{"big is shown as admitted", cell("workloads", "jobset-big", "ADMITTED", "True")},
		{"another queue", cell("workloads", "jobset-train", "QUEUE", "ml")},
		{"no Workload", func(s *snapshot.Snapshot) { s.Workloads = nil }},
	},
	"pods-by-jobset-name": {
		{"none of hello", selects(byJobSetName("hello"), func([]string) []string { return nil })},
		{"one of train's is missing", selects(byJobSetName("train"), func(found []string) []string { return found[1:] })},
		{"one of another JobSet", selects(byJobSetName("train"), func(found []string) []string { return append(found, "hello-leader-0-0-aaaaa") })},
		{"pods of a JobSet that nobody has", selects(byJobSetName(noSuchName), func([]string) []string { return []string{"hello-leader-0-0-aaaaa"} })},
		{"nobody has a pod", func(s *snapshot.Snapshot) { s.Pods, s.Answers.Selected = nil, map[string][]string{} }},
	},
	"no-queue-no-workload": {
		{"hello had a Workload for a moment", hasAWorkload("hello")},
		{"a Job of hello has one", func(s *snapshot.Snapshot) {
			once(s, "Workload", "job-hello-leader-0", "", "")
			s.Seen.Objects[len(s.Seen.Objects)-1].Owner = "Job/hello-leader-0"
		}},
		{"all JobSets have a queue label", func(s *snapshot.Snapshot) {
			for i := range s.JobSets {
				s.JobSets[i].Labels = maps.Clone(jobSet(s, "train").Labels)
			}
		}},
	},
}
