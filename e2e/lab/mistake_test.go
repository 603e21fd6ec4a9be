package lab

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestARefusalIsReportedByItsKind(t *testing.T) {
	t.Parallel()
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "JobSet"}, "hello", nil)
	unknown := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Kind: "JobSet"}}
	for _, judged := range []struct {
		err    error
		wanted metav1.StatusReason
		says   string
	}{
		{fmt.Errorf("applying: %w", invalid), metav1.StatusReasonInvalid, ""},
		{fmt.Errorf("applying: %w", unknown), NoSuchKind, ""},
		{nil, metav1.StatusReasonInvalid, "It was taken"},
		{invalid, NoSuchKind, "in another way"},
		{unknown, metav1.StatusReasonInvalid, "in another way"},
		// A server that cannot be reached has refused nothing.
		{errors.New("connection refused"), metav1.StatusReasonUnknown, "no answer"},
	} {
		refusal := refusedAs(judged.err, judged.wanted)
		if judged.says == "" && refusal != nil || judged.says != "" && (refusal == nil || !strings.Contains(refusal.String(), judged.says)) {
			t.Errorf("%v, wanted %s: %v", judged.err, judged.wanted, refusal)
		}
	}
}
