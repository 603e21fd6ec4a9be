package lab

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A Finding is one answer to the question whether this is the lab.
type Finding struct {
	What string `json:"what"`
	Says string `json:"says"`
	// Mend is what to type where something is wrong; empty where nothing is.
	Mend string `json:"mend,omitempty"`
	// Passes tells that what is wrong goes away by itself while a lab boots.
	Passes bool `json:"passes,omitempty"`
	// Since is from when on it was wrong, if the lab was waited for; see AwaitLab.
	Since time.Time `json:"since,omitzero"`
	// Note is a remark that makes nothing wrong.
	Note string `json:"note,omitempty"`
}

// Wrong tells whether no step should run on such a lab.
func (f Finding) Wrong() bool { return f.Mend != "" }

// unreachable tells a lab that is gone from one that does not let us in.
func unreachable(site *Site) Finding {
	finding := Finding{What: "cluster", Says: fmt.Sprintf("%s does not answer: %v", site.Server, site.Unreachable),
		Mend: "make up makes a lab; make steps LAB_KUBECONFIG=/path names another one", Passes: passing(site.Unreachable)}
	var timeout net.Error
	var silent *silence
	switch {
	case errors.As(site.Unreachable, &silent):
		finding.Says = fmt.Sprintf("%s, where %s leads, answers /version, but asked %s it gave no answer within %s",
			site.Server, site.Kubeconfig, silent.question, lookWithin)
		finding.Mend = fmt.Sprintf("restart the API server (k3s: systemctl restart k3s; a lab of this project: make down up); "+
			"kubectl --kubeconfig %s get --raw '/readyz?verbose' says what of it is not ready", site.Kubeconfig)
	case apierrors.IsUnauthorized(site.Unreachable), apierrors.IsForbidden(site.Unreachable),
		strings.Contains(site.Unreachable.Error(), "x509"), strings.Contains(site.Unreachable.Error(), "tls: "):
		finding.Says = fmt.Sprintf("the cluster at %s is not the one that %s was made for: %v", site.Server, site.Kubeconfig, site.Unreachable)
	case errors.Is(site.Unreachable, syscall.ECONNREFUSED):
		finding.Says = fmt.Sprintf("nothing listens at %s, where %s leads: the lab is gone or stopped", site.Server, site.Kubeconfig)
	case errors.As(site.Unreachable, &timeout) && timeout.Timeout():
		finding.Says = fmt.Sprintf("%s, where %s leads, gave no answer within %s", site.Server, site.Kubeconfig, lookWithin)
	}
	return finding
}

// Findings renders the preflight as a list that one can read aloud.
func Findings(findings []Finding) string {
	var rows [][]string
	for _, finding := range findings {
		mark := "✓"
		if finding.Wrong() {
			mark = "✗"
		}
		rows = append(rows, []string{mark, finding.What, finding.Says})
		if !finding.Since.IsZero() {
			rows = append(rows, []string{"", "", "* wrong since " + finding.Since.UTC().Format(time.TimeOnly) + " UTC"})
		}
		if finding.Note != "" {
			rows = append(rows, []string{"", "", "* " + finding.Note})
		}
		if finding.Wrong() {
			rows = append(rows, []string{"", "", "mend: " + finding.Mend})
		}
	}
	return indent(columns(rows), " ")
}

// WrongWorld says in one sentence and a list why no step can run; nothing if
// the preflight found nothing wrong.
func WrongWorld(findings []Finding) string {
	var wrong []Finding
	for _, finding := range findings {
		if finding.Wrong() {
			wrong = append(wrong, finding)
		}
	}
	if len(wrong) == 0 {
		return ""
	}
	return Visible(fmt.Sprintf("This is not the lab, so no step was run: %s.\n\n%s", strings.TrimSuffix(firstLine(wrong[0].Says), "."), Findings(findings)))
}
