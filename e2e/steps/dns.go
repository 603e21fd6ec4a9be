package steps

import (
	"context"

	"gsb.test/jobset-e2e/e2e/lab"
	. "gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

var dnsStep = lab.Step{
	Number: 2, Name: "dns",
	Title: "워커는 리더를 이름으로 찾는다",
	Task:  "워커 안에서 hello-leader-0-0.hello.ml.svc.cluster.local 을 조회해 /root/gsb-jobset/dns.txt 에 담습니다.",

	JobSets: []string{"hello"},
	Files:   []string{"dns.txt"},
	Needs:   []int{1},

	Solve: func(ctx context.Context, me *lab.Learner) {
		answered := func(s *snapshot.Snapshot) Matcher[snapshot.File] {
			return AnswerWithAddressOf(s.JobSet("hello").PodAt("leader", 0))
		}
		me.Write("dns.txt", "%s", me.Ask(ctx, "hello", "worker", 0, answered,
			"nslookup", "hello-leader-0-0.hello.ml.svc.cluster.local"))
	},
	Check: func(c *Check, s *snapshot.Snapshot) {
		Expect(c, s.File("dns.txt"), AnswerWithAddressOf(s.JobSet("hello").PodAt("leader", 0)))
	},
}
