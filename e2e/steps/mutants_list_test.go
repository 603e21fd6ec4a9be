package steps

// A pattern names fields whose change does not matter, and why.
type pattern struct {
	of, how string // regular expressions of the whole text
	why     string
}

const (
	podSpec = `spec\.replicatedJobs\[\]\.template\.spec\.template\.spec`
)

// immaterial is every change that no step refuses. The first pattern that fits counts.
var immaterial = []pattern{
	// What the API server, kubelet and the controllers keep for themselves.
	{`\S+ \S+ (kind|apiVersion)`, ``, "the API that was asked says it"},
	{`\S+ \S+ metadata\.(uid|namespace|ownerReferences\[\]\.(apiVersion|name))`, ``, "only the lab's namespace is read, and owners are known by UID"},
	{`\S+ \S+ .*(ownerReferences|conditions|podIPs)`, `\[\d\] twice`, "the API server refuses a list with an entry twice"},
	{`\S+ \S+ .*\.(lastTransitionTime|lastProbeTime|startedAt|finishedAt)`, ``, "recordings keep no times; what depends on one is judged by the history"},
	{`\S+ \S+ status\.conditions\[\]\.(reason|message)`, ``, "the words differ by version; big's reason is judged by big.txt and by whether it names the quota"},
	{`Pod \S+ status\.(podIPs.*|conditions\[\]\..*|conditions|containerStatuses.*)`, ``, "kubelet's details; phase and Ready decide, and the container restarts that are left out count as none"},
	{`Pod \S+ status\.podIP`, ``, "the IP in dns.txt is compared with the list podIPs of the leader's pod"},
	{`Pod \S+ spec\.(nodeName|restartPolicy)`, ``, "the lab has one node; restartPolicy is the Job's affair"},
	{`Pod \S+ metadata\.labels\.kueue\.x-k8s\.io/.*`, ``, "Kueue's own labels, which other versions do not set"},
	{`(JobSet|Job|Pod) \S+ .*annotations.*`, ``, "Kueue's own annotation, which other versions do not set"},
	{`JobSet (train|big) ` + `spec\.replicatedJobs\[\]\.template\.spec\.template\.metadata.*`, ``, "Kueue's own labels below the JobSet, which other versions do not set"},
	{`JobSet \S+ spec\.(replicatedJobs\[\]\.groupName|startupPolicy.*|network.*)`, ``, "defaults of JobSet's webhook; whether the names exist, the lookup in dns.txt shows"},
	{`JobSet \S+ status\.(terminalState|restartsCountTowardsMax)`, ``, "newer versions have it; the conditions and status.restarts say the same"},
	{`JobSet \S+ status\.conditions(\[\]\.(type|status))?`, ``, "only Completed and Failed are asked for, which other changes leave"},
	{`JobSet (hello|eval|train|big) status(\.restarts)?`, ``, "the text asks for the restarts of fragile alone"},
	{`JobSet fragile spec\.failurePolicy\.restartStrategy`, ``, "the text asks for no strategy; each of them restarts all pods"},
	{`JobSet (hello|fragile|train|big) spec\.successPolicy.*`, ``, "the text asks for a success policy of eval alone"},
	{`JobSet \S+ spec\.suspend`, `without`, "left out it means false"},

	// What the lab text leaves to the learner.
	{`JobSet \S+ ` + podSpec + `\.(restartPolicy|terminationGracePeriodSeconds)`, ``, "the text does not ask for it"},
	{`JobSet \S+ ` + podSpec + `\.containers\[\]\.(image|imagePullPolicy|name|resources)`, ``, "the text asks for no image and no name; of resources only the GPUs are judged"},
	{`JobSet \S+ ` + podSpec + `\.containers\[\]\.command(\[\])?`, ``, "the text asks for no command but fragile's worker's, of which only the file's name is judged"},
	{`JobSet \S+ ` + podSpec + `(\.containers)?`, ``, "the API server takes no pod without a container; with a second one the text does not count"},
	{`JobSet \S+ spec\.replicatedJobs\[\]\.template\.spec\.(completionMode|parallelism|template)`, ``, "a default; the text asks for the number of pods"},
	{`JobSet \S+ spec\.replicatedJobs\[\]\.template(\.spec\.template)?\.metadata`, ``, "no label is asked for there"},

	// What the same object, or another one, is judged by already.
	{`Job \S+ (spec.*|status.*|metadata(\.labels.*|\.name)?)`, ``, "Jobs are judged by what their JobSet says and by their pods; that eval's leader completed, the history shows too"},
	{`Job (fragile|eval|big)\S* metadata\.ownerReferences.*`, ``, "a Job without pods is nobody's"},
	{`Pod \S+ metadata(\.name|\.labels.*)?`, ``, "a name is for people; labels place a pod, and those of a pod that is away leave a place empty, which is refused"},
	{`Pod \S+ spec(\.containers.*)?`, ``, "the JobSet's template is judged; what a webhook changes of a pod is no fault of the learner's"},
	{`Pod eval\S* .*`, ``, "eval's pods end with it"},
	{`Service \S+ .*`, ``, "that it gives the names, the lookup in dns.txt shows"},
	{`Workload \S+ (metadata\.name|spec\.(priority|queueName|podSets\[\]\.template.*))`, ``, "Kueue copies it from the JobSet; the podSets' names and counts are judged"},
	{`Workload \S+ spec\.active`, `without`, "left out it means true"},
	{`Workload \S+ status\.conditions(\[\]\.(type|status))?`, ``, "Admitted and QuotaReserved are judged; the others come and go by version"},

	// What the environment check judges, before any step.
	{`LocalQueue \S+ .*`, ``, "the environment check judges it; that it leads to ml, the quota in use shows"},
	{`ClusterQueue \S+ (metadata.*|spec\.(namespaceSelector|queueingStrategy|stopPolicy|resourceGroups.*)|status\.conditions.*)`, ``, "the environment check judges it; the quota itself is judged"},
	{`ClusterQueue \S+ status\.(admittedWorkloads|pendingWorkloads|reservingWorkloads|flavors(Reservation|Usage)\[\]\.name)`, ``, "counters of Kueue; the GPUs reserved and in use are judged"},
	{`ClusterQueue \S+ status\.flavors(Reservation|Usage)\[\]\.resources\[\]\.borrowed`, `without`, "left out it means none"},
}
