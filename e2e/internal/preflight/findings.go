package preflight

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
	"gsb.test/jobset-e2e/fixtures"
)

// A Finding is what one check of the environment found.
type Finding struct {
	Check string `json:"check"`
	// Code is the kind of what is wrong, or of the note; empty if all is right.
	Code    snapshot.Code `json:"code,omitempty"`
	Message string        `json:"message"`
	// Fix is what to type if something is wrong; empty if nothing is.
	Fix string `json:"fix,omitempty"`
	// Note is a remark that makes nothing wrong.
	Note string `json:"note,omitempty"`
	// Passes reports that what is wrong goes away by itself while a lab boots.
	Passes bool `json:"passes,omitempty"`
	// Since is from when on it was wrong, if the lab was waited for; see AwaitLab.
	Since time.Time `json:"since,omitzero"`
}

// Wrong reports whether no step may run on such a lab.
func (f Finding) Wrong() bool { return f.Fix != "" }

// FirstWrong is the first finding that is wrong; nil if none is.
func FirstWrong(findings []Finding) *Finding {
	if at := slices.IndexFunc(findings, Finding.Wrong); at >= 0 {
		return &findings[at]
	}
	return nil
}

// Unreachable says why the API server gave no answer: it is gone, it hangs, or it
// refuses the kubeconfig.
func Unreachable(facts *Facts) Finding {
	finding := Finding{Check: "cluster", Code: APIServerUnreachable, Message: fmt.Sprintf("%s does not answer: %v", facts.Server, facts.Unreachable),
		Fix: "make up makes a lab; make steps LAB_KUBECONFIG=/path names another one", Passes: passing(facts.Unreachable)}
	var timeout net.Error
	var silent *cluster.Silence
	switch {
	case errors.As(facts.Unreachable, &silent):
		finding.Code = APIServerUnresponsive
		finding.Message = fmt.Sprintf("%s, where %s leads, answers /version, but asked %s it gave no answer within %s",
			facts.Server, facts.Kubeconfig, silent.Question, cluster.LookWithin)
		finding.Fix = fmt.Sprintf("restart the API server (k3s: systemctl restart k3s; a lab of this project: make down up); "+
			"kubectl --kubeconfig %s get --raw '/readyz?verbose' says what of it is not ready", facts.Kubeconfig)
	case apierrors.IsUnauthorized(facts.Unreachable), apierrors.IsForbidden(facts.Unreachable),
		strings.Contains(facts.Unreachable.Error(), "x509"), strings.Contains(facts.Unreachable.Error(), "tls: "):
		finding.Code = CredentialsRejected
		finding.Message = fmt.Sprintf("the cluster at %s is not the one that %s was made for: %v", facts.Server, facts.Kubeconfig, facts.Unreachable)
	case errors.Is(facts.Unreachable, syscall.ECONNREFUSED):
		finding.Message = fmt.Sprintf("nothing listens at %s, where %s leads: the lab is gone or stopped", facts.Server, facts.Kubeconfig)
	case errors.As(facts.Unreachable, &timeout) && timeout.Timeout():
		finding.Message = fmt.Sprintf("%s, where %s leads, gave no answer within %s", facts.Server, facts.Kubeconfig, cluster.LookWithin)
	}
	return finding
}

// unreadable says why a part of the facts could not be read: nobody serves its kind, or this
// user may not.
func unreadable(err error, pins fixtures.Pins) Finding {
	finding := Finding{Check: "reading", Code: FactUnreadable, Message: err.Error(), Passes: passing(err),
		Fix: "the kubeconfig must let its user read everything and write in namespace " + pins.Namespace}
	var unknown *meta.NoKindMatchError
	if errors.As(err, &unknown) {
		finding.Code = KindNotServed
		finding.Message = fmt.Sprintf("the API server serves no %s: its CustomResourceDefinition is not there, or is of another version than the lab's (%v)", unknown.GroupKind, err)
		finding.Fix = fmt.Sprintf("kubectl get crd shows what is there; apply the manifest of JobSet %s or Kueue %s again", pins.JobSet, pins.Kueue)
	}
	return finding
}

// Table renders findings as a table of one line each, with notes and fixes below.
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
			rows = append(rows, []string{"", "", "fix: " + finding.Fix})
		}
	}
	return text.Indent(text.Columns(rows), " ")
}

// Blocking says in one sentence and a table why no step can run; it is empty if
// nothing is wrong.
func Blocking(findings []Finding) string {
	wrong := FirstWrong(findings)
	if wrong == nil {
		return ""
	}
	return text.Visible(fmt.Sprintf("This is not the lab, so no step was run: %s.\n\n%s", strings.TrimSuffix(text.FirstLine(wrong.Message), "."), Table(findings)))
}
