package preflight

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"gsb.test/jobset-e2e/e2e/internal/blockers"
	"gsb.test/jobset-e2e/e2e/internal/labtest"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// shared are the codes that another package declares for the same meaning.
var shared = map[string]snapshot.Code{
	"BlockedDNS": blockers.BlockedDNS, "BlockedNode": blockers.BlockedNode, "BlockedJobSetController": blockers.BlockedJobSetController,
	"BlockedKueueController": blockers.BlockedKueueController, "ClusterQueueNotFound": matchers.ClusterQueueNotFound,
}

// declared are the codes of codes.go: of what is wrong, and of notes.
func declared(t *testing.T) (wrong, notes []snapshot.Code) {
	t.Helper()
	blocks := constantsOf(t, "codes.go")
	if len(blocks) != 2 {
		t.Fatalf("codes.go has %d blocks of constants", len(blocks))
	}
	return blocks[0], blocks[1]
}

// constantsOf are the codes that a file declares, block by block.
func constantsOf(t *testing.T, path string) (blocks [][]snapshot.Code) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, declaration := range file.Decls {
		block, ok := declaration.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		var codes []snapshot.Code
		for _, spec := range block.Specs {
			constant := spec.(*ast.ValueSpec)
			if of, ok := constant.Type.(*ast.SelectorExpr); !ok || of.Sel.Name != "Code" {
				continue
			}
			switch value := constant.Values[0].(type) {
			case *ast.BasicLit:
				code, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				codes = append(codes, snapshot.Code(code))
			case *ast.SelectorExpr:
				code, ok := shared[value.Sel.Name]
				if !ok {
					t.Fatalf("%s is not in shared", value.Sel.Name)
				}
				codes = append(codes, code)
			}
		}
		if len(codes) > 0 {
			blocks = append(blocks, codes)
		}
	}
	return blocks
}

func TestACodeHasOneMeaning(t *testing.T) {
	t.Parallel()
	wrong, notes := declared(t)
	all := append(wrong, notes...)
	for _, code := range all {
		if count := len(slices.DeleteFunc(slices.Clone(all), func(other snapshot.Code) bool { return other != code })); count > 1 {
			t.Errorf("%s is declared %d times", code, count)
		}
	}
	var meant []snapshot.Code
	for _, code := range shared {
		meant = append(meant, code)
	}
	for _, path := range []string{"../../matchers/codes.go", "../blockers/blockers.go", "../report/failure.go"} {
		for _, code := range slices.Concat(constantsOf(t, path)...) {
			if slices.Contains(all, code) && !slices.Contains(meant, code) {
				t.Errorf("%s declares %s too, and it is not shared", path, code)
			}
		}
	}
}

// A note that says what may disturb a step has a code too, and blocks nothing.
func TestANoteHasItsCode(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	covered := map[snapshot.Code]bool{}
	for code, change := range map[snapshot.Code]func(*Facts){
		LeaseForbidden:        func(f *Facts) { f.Unheld = errors.New("leases is forbidden") },
		DiskNearlyFull:        func(f *Facts) { f.Kubelet.Disks[0].Available = 18 << 30 },
		ImageNotReported:      func(f *Facts) { f.Nodes[0].Status.Images = make([]corev1.ContainerImage, imagesReported) },
		JobSetVersionMismatch: func(f *Facts) { f.JobSet.Version = "v0.7.1" },
		KueueVersionMismatch:  func(f *Facts) { f.Kueue.Version = "v0.1.0" },
		LimitsPresent:         func(f *Facts) { f.Interference.Quotas = []corev1.ResourceQuota{podQuota("2")} },
		EgressDenied: func(f *Facts) {
			f.Interference.Policies = []networkingv1.NetworkPolicy{{Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}}}}
		},
		QueueIsStrictFIFO: func(f *Facts) { f.ClusterQueue.Spec.QueueingStrategy = kueuev1.StrictFIFO },
		CohortPresent:     func(f *Facts) { f.ClusterQueue.Spec.CohortName, f.Interference.Borrowable = "all", 2 },
		AdmissionChecksAsked: func(f *Facts) {
			f.ClusterQueue.Spec.AdmissionChecksStrategy = &kueuev1.AdmissionChecksStrategy{AdmissionChecks: []kueuev1.AdmissionCheckStrategyRule{{Name: "cloud"}}}
		},
		PartsChanged: func(f *Facts) {
			f.Interference.Parts[0].Pod.Spec.Containers = append(f.Interference.Parts[0].Pod.Spec.Containers, corev1.Container{Name: "proxy"})
		},
		FlavorWithTopology: func(f *Facts) {
			f.Interference.Flavors[0].Spec.TopologyName = ptr.To(kueuev1.TopologyReference("racks"))
		},
		WorkloadsPending: func(f *Facts) { f.Interference.WaitingForQuota = []string{"other/big"} },
	} {
		facts := theLab(pins)
		change(facts)
		findings := Judge(facts, pins)
		at := slices.IndexFunc(findings, func(f Finding) bool { return f.Code == code })
		if at < 0 || findings[at].Note == "" || FirstWrong(findings) != nil {
			t.Errorf("%s:\n%s", code, Table(findings))
		}
		covered[code] = true
	}
	_, notes := declared(t)
	for _, code := range notes {
		if !covered[code] {
			t.Errorf("nothing above is about %s", code)
		}
	}
}

// What is wrong outweighs a note: the finding has one code.
func TestTheCodeIsThatOfWhatIsWrong(t *testing.T) {
	t.Parallel()
	pins := labtest.Pinned(t)
	facts := theLab(pins)
	facts.JobSet.Version, facts.JobSet.Available = "v0.7.1", false
	facts.Nodes[0].Status.Allocatable["nvidia.com/gpu"] = resource.MustParse("2")
	findings := Judge(facts, pins)
	if first := FirstWrong(findings); first == nil || first.Code != JobSetControllerUnavailable || first.Note == "" {
		t.Errorf("the first that is wrong: %+v", first)
	}
}
