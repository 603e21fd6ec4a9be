package install

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"gsb.test/jobset-e2e/provision/poll"
)

// The keys of the certificate authority in the Secret, by the names of the rotator
// that JobSet and Kueue use.
const (
	caCertificateKey = "ca.crt"
	caPrivateKeyKey  = "ca.key"
)

const (
	caLifetime     = 10 * 365 * 24 * time.Hour
	serverLifetime = 365 * 24 * time.Hour
	// lookahead is how long a certificate must still be valid: the rotator replaces one
	// with less left when it starts.
	lookahead = 90 * 24 * time.Hour
)

// serverUsages are the usages that the rotator requires of a webhook's certificate.
var serverUsages = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}

// ensureCertificate writes a webhook certificate into the Secret that a manager
// mounts, before the manager starts. A manager that makes its own waits 60 to 90
// seconds for kubelet to refresh the mount. The Secret must exist; a certificate that
// the rotator would keep is kept. The manager itself puts the certificate authority
// into its webhooks.
func ensureCertificate(ctx context.Context, c client.Client, m manager) error {
	what := fmt.Sprintf("a webhook certificate in Secret %s/%s", m.namespace, m.secret)
	return poll.For(ctx, what, func(ctx context.Context) error {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: m.secret}, secret); err != nil {
			return err
		}
		if checkCertificate(secret.Data, m, time.Now().Add(lookahead)) == nil {
			return nil
		}
		data, err := makeCertificate(m, time.Now())
		if err != nil {
			return err
		}
		secret.Data = data
		return c.Update(ctx, secret, client.FieldOwner(fieldManager+"-certificates"))
	})
}

// makeCertificate makes a certificate authority and a server certificate as the
// manager's rotator would.
func makeCertificate(m manager, now time.Time) (map[string][]byte, error) {
	r := &rotator.CertRotator{CAName: m.authority, CAOrganization: fieldManager, DNSName: m.dnsName(), ExtKeyUsages: &serverUsages}
	// Valid since an hour ago, for a node whose clock is slow.
	begin := now.Add(-time.Hour)
	ca, err := r.CreateCACert(begin, now.Add(caLifetime))
	if err != nil {
		return nil, fmt.Errorf("making the certificate of %s: %w", m.authority, err)
	}
	certificate, key, err := r.CreateCertPEM(ca, begin, now.Add(serverLifetime))
	if err != nil {
		return nil, fmt.Errorf("making the certificate for %s: %w", m.dnsName(), err)
	}
	return map[string][]byte{caCertificateKey: ca.CertPEM, caPrivateKeyKey: ca.KeyPEM,
		corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}, nil
}

// checkCertificate returns why a rotator would replace a Secret's data at a given
// time; nil if it would keep it.
func checkCertificate(data map[string][]byte, m manager, at time.Time) error {
	authority, key := data[caCertificateKey], data[caPrivateKeyKey]
	if _, err := rotator.ValidCert(authority, authority, key, m.authority, nil, at); err != nil {
		return fmt.Errorf("the authority's certificate: %w", err)
	}
	if _, err := rotator.ValidCert(authority, data[corev1.TLSCertKey], data[corev1.TLSPrivateKeyKey], m.dnsName(), &serverUsages, at); err != nil {
		return fmt.Errorf("the server's certificate: %w", err)
	}
	return nil
}
