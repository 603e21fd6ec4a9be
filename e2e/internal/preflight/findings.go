package preflight

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// A Finding is one answer to the question whether this is the lab.
type Finding struct {
	Check   string `json:"what"`
	Message string `json:"says"`
	// Mend is what to type where something is wrong; empty where nothing is.
	Fix string `json:"mend,omitempty"`
	// Passes tells that what is wrong goes away by itself while a lab boots.
	Passes bool `json:"passes,omitempty"`
	// Since is from when on it was wrong, if the lab was waited for; see AwaitLab.
	Since time.Time `json:"since,omitzero"`
	// Note is a remark that makes nothing wrong.
	Note string `json:"note,omitempty"`
}

// Wrong tells whether no step should run on such a lab.
func (f Finding) Wrong() bool { return f.Fix != "" }

// unreachable tells a lab that is gone from one that does not let us in.
func Unreachable(site *Facts) Finding {
	finding := Finding{Check: "cluster", Message: fmt.Sprintf("%s does not answer: %v", site.Server, site.Unreachable),
		Fix: "make up makes a lab; make steps LAB_KUBECONFIG=/path names another one", Passes: passing(site.Unreachable)}
	var timeout net.Error
	var silent *cluster.Silence
	switch {
	case errors.As(site.Unreachable, &silent):
		finding.Message = fmt.Sprintf("%s, where %s leads, answers /version, but asked %s it gave no answer within %s",
			site.Server, site.Kubeconfig, silent.Question, cluster.LookWithin)
		finding.Fix = fmt.Sprintf("restart the API server (k3s: systemctl restart k3s; a lab of this project: make down up); "+
			"kubectl --kubeconfig %s get --raw '/readyz?verbose' says what of it is not ready", site.Kubeconfig)
	case apierrors.IsUnauthorized(site.Unreachable), apierrors.IsForbidden(site.Unreachable),
		strings.Contains(site.Unreachable.Error(), "x509"), strings.Contains(site.Unreachable.Error(), "tls: "):
		finding.Message = fmt.Sprintf("the cluster at %s is not the one that %s was made for: %v", site.Server, site.Kubeconfig, site.Unreachable)
	case errors.Is(site.Unreachable, syscall.ECONNREFUSED):
		finding.Message = fmt.Sprintf("nothing listens at %s, where %s leads: the lab is gone or stopped", site.Server, site.Kubeconfig)
	case errors.As(site.Unreachable, &timeout) && timeout.Timeout():
		finding.Message = fmt.Sprintf("%s, where %s leads, gave no answer within %s", site.Server, site.Kubeconfig, cluster.LookWithin)
	}
	return finding
}

// Findings renders the preflight as a list that one can read aloud.
func Table(findings []Finding) string {
	var rows [][]string
	for _, finding := range findings {
		mark := "✓"
		if finding.Wrong() {
			mark = "✗"
		}
		rows = append(rows, []string{mark, finding.Check, finding.Message})
		if !finding.Since.IsZero() {
			rows = append(rows, []string{"", "", "* wrong since " + finding.Since.UTC().Format(time.TimeOnly) + " UTC"})
		}
		if finding.Note != "" {
			rows = append(rows, []string{"", "", "* " + finding.Note})
		}
		if finding.Wrong() {
			rows = append(rows, []string{"", "", "mend: " + finding.Fix})
		}
	}
	return text.Indent(text.Columns(rows), " ")
}

// WrongWorld says in one sentence and a list why no step can run; nothing if
// the preflight found nothing wrong.
func Blocking(findings []Finding) string {
	var wrong []Finding
	for _, finding := range findings {
		if finding.Wrong() {
			wrong = append(wrong, finding)
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return text.Visible(fmt.Sprintf("This is not the lab, so no step was run: %s.\n\n%s", strings.TrimSuffix(text.FirstLine(wrong[0].Message), "."), Table(findings)))
}
