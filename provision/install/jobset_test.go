package install

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"gsb.test/jobset-e2e/provision/poll"
)

// holding is a cluster that holds the given objects and runs no controller.
func holding(objects ...client.Object) *Cluster {
	return &Cluster{Client: fake.NewClientBuilder().WithObjects(objects...).Build()}
}

func TestTheAPIIsAskedOnItsServiceAddressFromTheNode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ ip, address string }{
		{"10.96.0.1", "https://10.96.0.1:443/readyz"},
		{"fd00:10:96::1", "https://[fd00:10:96::1]:443/readyz"},
	} {
		c := holding(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
			Spec:       corev1.ServiceSpec{ClusterIP: test.ip},
		})
		calls := 0
		c.Node = func(_ context.Context, command ...string) (string, error) {
			if calls++; calls == 1 {
				return "curl: (7) refused once\ncurl: (7) refused again\n", errors.New("exit status 124")
			}
			if !slices.Contains(command, test.address) || !strings.Contains(strings.Join(command, " "), "--cacert") {
				t.Errorf("the node was told to run %q", command)
			}
			return "", nil
		}
		if err := c.reachesAPI(t.Context()); err != nil || calls != 2 {
			t.Errorf("%s: after %d calls: %v", test.ip, calls, err)
		}
	}
}

func TestAnAPIThatNeverAnswersIsReportedByItsLastWords(t *testing.T) {
	t.Parallel()
	c := holding(&corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.1"},
	})
	c.Node = func(context.Context, ...string) (string, error) {
		return "curl: (7) at first\ncurl: (60) certificate is valid for a proxy\n", errors.New("exit status 124")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*poll.PollInterval)
	defer cancel()
	err := c.reachesAPI(ctx)
	if err == nil || !strings.Contains(err.Error(), "valid for a proxy") || !strings.Contains(err.Error(), "10.96.0.1") || strings.Contains(err.Error(), "at first") {
		t.Errorf("got %v", err)
	}
}
