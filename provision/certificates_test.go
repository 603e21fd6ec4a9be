package provision

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func made(t *testing.T, authority, dnsName string, now time.Time) map[string][]byte {
	t.Helper()
	data, err := makeCertificate(authority, dnsName, now)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestACertificateIsWhatTheRotatorKeeps(t *testing.T) {
	for _, m := range []manager{jobSetManager, kueueManager} {
		data := made(t, m.authority, m.dnsName(), time.Now())
		if err := checkCertificate(data, m.authority, m.dnsName(), time.Now().Add(lookahead)); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		// The same by the standard library, not by the code under test.
		block, _ := pem.Decode(data["ca.key"])
		if block == nil || block.Type != "RSA PRIVATE KEY" {
			t.Fatalf("%s: the authority's key is %v, not a PKCS #1 RSA key", m.name, block)
		}
		if _, err := x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
		pair, err := tls.X509KeyPair(data["tls.crt"], data["tls.key"])
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(data["ca.crt"]) {
			t.Fatalf("%s: no certificate of the authority", m.name)
		}
		if _, err := pair.Leaf.Verify(x509.VerifyOptions{
			DNSName: m.service + "." + m.namespace + ".svc", Roots: roots,
			KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		}); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestACertificateTheRotatorWouldReplaceIsNotKept(t *testing.T) {
	now := time.Now()
	m := jobSetManager
	right := made(t, m.authority, m.dnsName(), now)
	other := made(t, m.authority, m.dnsName(), now)
	with := func(change map[string][]byte) map[string][]byte {
		data := maps.Clone(right)
		maps.Copy(data, change)
		return data
	}
	caBlock, _ := pem.Decode(right["ca.key"])
	caKey, err := x509.ParsePKCS1PrivateKey(caBlock.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(caKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name, says string
		data       map[string][]byte
	}{
		{"empty", "ca.crt is not PEM", nil},
		{"no server certificate", "tls.crt is not PEM", with(map[string][]byte{"tls.crt": nil})},
		{"authority's key in PKCS #8", "PKCS #1", with(map[string][]byte{"ca.key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8})})},
		{"authority's key of another", "not that of its certificate", with(map[string][]byte{"ca.key": other["ca.key"]})},
		{"server's key of another", "private key does not match", with(map[string][]byte{"tls.key": other["tls.key"]})},
		{"server of another authority", "unknown authority", with(map[string][]byte{"tls.crt": other["tls.crt"], "tls.key": other["tls.key"]})},
		{"another service", "jobset-webhook-service.jobset-system.svc", made(t, m.authority, "other.jobset-system.svc", now)},
		{"another authority's name", "jobset-ca", made(t, "kueue-ca", m.dnsName(), now)},
		{"ends within the lookahead", "expired", made(t, m.authority, m.dnsName(), now.Add(lookahead-serverLifetime-time.Hour))},
	} {
		err := checkCertificate(test.data, m.authority, m.dnsName(), now.Add(lookahead))
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v; it should say %q", test.name, err, test.says)
		}
	}
}

func TestAValidCertificateIsNotReplaced(t *testing.T) {
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
	if err := checkCertificate(first, m.authority, m.dnsName(), time.Now().Add(lookahead)); err != nil {
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
	old.Data = made(t, m.authority, m.dnsName(), time.Now().Add(-serverLifetime))
	if err := c.Update(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	ensure()
	if third := read(); bytes.Equal(old.Data["tls.crt"], third["tls.crt"]) {
		t.Error("an expired certificate was kept")
	}
}
