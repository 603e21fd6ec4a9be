package install

import (
	"bytes"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func made(t *testing.T, m manager, now time.Time) map[string][]byte {
	t.Helper()
	data, err := makeCertificate(m, now)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestACertificateTheRotatorWouldReplaceIsNotKept(t *testing.T) {
	t.Parallel()
	now := time.Now()
	m, otherService, otherName := jobSetManager, jobSetManager, jobSetManager
	otherService.service, otherName.authority = "other", "kueue-ca"
	right, other := made(t, m, now), made(t, m, now)
	with := func(change map[string][]byte) map[string][]byte {
		data := maps.Clone(right)
		maps.Copy(data, change)
		return data
	}
	if err := checkCertificate(right, m, now.Add(lookahead)); err != nil {
		t.Errorf("a new one would be replaced: %v", err)
	}
	for name, data := range map[string]map[string][]byte{
		"empty":                       nil,
		"no server certificate":       with(map[string][]byte{"tls.crt": nil}),
		"authority's key of another":  with(map[string][]byte{"ca.key": other["ca.key"]}),
		"server's key of another":     with(map[string][]byte{"tls.key": other["tls.key"]}),
		"server of another authority": with(map[string][]byte{"tls.crt": other["tls.crt"], "tls.key": other["tls.key"]}),
		"another service":             made(t, otherService, now),
		"another authority's name":    made(t, otherName, now),
		"ends within the lookahead":   made(t, m, now.Add(lookahead-serverLifetime-time.Hour)),
	} {
		if err := checkCertificate(data, m, now.Add(lookahead)); err == nil {
			t.Errorf("%s: kept", name)
		}
	}
}

func TestAValidCertificateIsNotReplaced(t *testing.T) {
	t.Parallel()
	m := kueueManager
	key := client.ObjectKey{Namespace: m.namespace, Name: m.secret}
	c := fake.NewClientBuilder().WithObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.namespace, Name: m.secret}}).Build()
	read := func() map[string][]byte {
		t.Helper()
		secret := &corev1.Secret{}
		if err := c.Get(t.Context(), key, secret); err != nil {
			t.Fatal(err)
		}
		return secret.Data
	}
	ensure := func() {
		t.Helper()
		if err := ensureCertificate(t.Context(), c, m); err != nil {
			t.Fatal(err)
		}
	}
	ensure()
	first := read()
	if err := checkCertificate(first, m, time.Now().Add(lookahead)); err != nil {
		t.Fatalf("the empty Secret was not filled: %v", err)
	}
	ensure()
	if second := read(); !bytes.Equal(first["tls.crt"], second["tls.crt"]) {
		t.Error("a valid certificate was replaced by the second call")
	}
	old := &corev1.Secret{}
	if err := c.Get(t.Context(), key, old); err != nil {
		t.Fatal(err)
	}
	old.Data = made(t, m, time.Now().Add(-serverLifetime))
	if err := c.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	ensure()
	if third := read(); bytes.Equal(old.Data["tls.crt"], third["tls.crt"]) {
		t.Error("an expired certificate was kept")
	}
}
