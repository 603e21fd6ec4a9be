package lab

import (
	"context"
	"errors"
	"fmt"

	"github.com/onsi/ginkgo/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gsb.test/jobset-e2e/e2e/internal/report"
	"gsb.test/jobset-e2e/e2e/matchers"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// A Mistake is one that learners make: what they write, and what the cluster
// then really does. It is made for real, before the steps and in the same
// namespace, beside other mistakes, with a history of its own, and taken away again.
type Mistake struct {
	// Name is the stem of its file in fixtures/mistakes. The JobSet in it has
	// the name that the step asks for.
	Name string
	// Step is the number of the step that it is made in, and JobSet that step's own.
	Step   int
	JobSet string
	// InText marks one that the lab text itself names. It decides the verdict; what the
	// others find is reported.
	InText bool
	// Integration is the kind that Kueue must take in hand for it; empty if none.
	Integration Integration
	// Symptom is what the mistake does, in one sentence, as the spec's name.
	Symptom string

	// Refused is the kind of the API server's refusal, where it does not even
	// take the file.
	Refused metav1.StatusReason
	// Trigger does what the mistake shows itself by, after the file is applied.
	// It may be nil.
	Trigger func(ctx context.Context, me *Learner)

	// Check judges what the cluster does. It is polled until it holds.
	Check func(c *matchers.Check, s *snapshot.Snapshot)
	// Lasting marks a mistake whose Check says that something does not happen
	// though it still could: it is watched for NeverWithin.
	Lasting bool
}

// An Integration is a kind, beside JobSet, that Kueue can take in hand or not.
type Integration string

// The integrations that mistakes need, as Kueue's configuration names them.
const (
	JobIntegration Integration = "batch/job"
	PodIntegration Integration = "pod"
)

// Judge checks a snapshot for what the mistake does; see Step.Judge.
func (m Mistake) Judge(snapshot *snapshot.Snapshot) *matchers.Check {
	c := &matchers.Check{}
	m.Check(c, snapshot)
	return c
}

// String is how a mistake is called in a sentence.
func (m Mistake) String() string { return fmt.Sprintf("The mistake %s (step %d)", m.Name, m.Step) }

// failureReport reports a cluster that does not do what the mistake says.
func (m Mistake) failureReport(failure report.Failure, snapshot *snapshot.Snapshot) report.FailureReport {
	return report.FailureReport{Subject: m.String(), Failure: failure, JobSets: []string{m.JobSet}, Snapshot: snapshot}
}

// ApplyRefused applies a fixture, named by its path below fixtures/, that the API
// server must refuse, and in this way. Texts differ from version to version; the
// kind of a refusal does not.
func (me *Learner) ApplyRefused(ctx context.Context, fixture string, wanted metav1.StatusReason) {
	ginkgo.GinkgoHelper()
	me.by("kubectl apply -f " + fixture + ", which must be refused")
	err := me.apply(ctx, fixture, me.fixture(fixture))
	if r := refusedAs(err, wanted); r != nil {
		r.EN = fmt.Sprintf("kubectl apply -f %s: %s", fixture, r.EN)
		me.failWith(report.NotDone, r, readOnce(ctx, me.cluster))
	}
}

// NoSuchKind is the kind of refusal where no API server serves what a file is
// of. It never comes so far that a server could give a reason.
const NoSuchKind metav1.StatusReason = "NoSuchKind"

// refusedAs judges the error of a request that must be refused.
func refusedAs(err error, wanted metav1.StatusReason) *matchers.Mismatch {
	var status apierrors.APIStatus
	found := metav1.StatusReason("no answer")
	switch {
	case err == nil:
		return matchers.NewInternalMismatch(matchers.APIRefusalExpected, "It was taken, and had to be refused.").Row("refusal", wanted, "none")
	case meta.IsNoMatchError(err):
		found = NoSuchKind
	case errors.As(err, &status):
		found = apierrors.ReasonForError(err)
	}
	if found == wanted {
		return nil
	}
	return matchers.NewInternalMismatch(matchers.APIRefusalOther, "It was refused in another way than it had to be: %v.", err).Row("refusal", wanted, found)
}
