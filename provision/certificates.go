package provision

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The keys of a webhook certificate's Secret, as JobSet, Kueue and the rotator
// that both build on (open-policy-agent/cert-controller, pkg/rotator) name them.
const (
	caCertificateKey     = "ca.crt"
	caPrivateKeyKey      = "ca.key"
	serverCertificateKey = corev1.TLSCertKey
	serverPrivateKeyKey  = corev1.TLSPrivateKeyKey
)

const (
	caLifetime     = 10 * 365 * 24 * time.Hour
	serverLifetime = 365 * 24 * time.Hour
	// lookahead is how long a certificate must still be valid: with less left
	// the rotator makes a new one as soon as it starts, which is the very wait
	// that ours spare.
	lookahead = 90 * 24 * time.Hour
)

// ensureCertificate fills the Secret that a manager mounts with a certificate
// for its webhook, before the manager starts. A manager that has to make its own
// waits for kubelet to refresh the mounted Secret, which takes 60 to 90 seconds.
// The Secret must exist; one that the rotator would keep is left as it is. The
// manager itself puts the certificate authority into its webhooks.
func ensureCertificate(ctx context.Context, c client.Client, m manager) error {
	what := fmt.Sprintf("a webhook certificate in Secret %s/%s", m.namespace, m.secret)
	return waitFor(ctx, what, func(ctx context.Context) error {
		secret := &corev1.Secret{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: m.namespace, Name: m.secret}, secret); err != nil {
			return err
		}
		if checkCertificate(secret.Data, m.authority, m.dnsName(), time.Now().Add(lookahead)) == nil {
			return nil
		}
		data, err := makeCertificate(m.authority, m.dnsName(), time.Now())
		if err != nil {
			return err
		}
		secret.Data = data
		return c.Update(ctx, secret, client.FieldOwner(fieldManager+"-certificates"))
	})
}

// makeCertificate makes a certificate authority of the given name and a server
// certificate of it for dnsName. The authority's key is RSA in PKCS #1, because
// the rotator reads no other; the server's may be any, and ECDSA takes no time.
func makeCertificate(authority, dnsName string, now time.Time) (map[string][]byte, error) {
	caKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("making the key of %s: %w", authority, err)
	}
	// An hour back, for a node whose clock is a little behind.
	begin := now.Add(-time.Hour)
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: authority, Organization: []string{fieldManager}},
		// The rotator looks for the authority's name here, too.
		DNSNames:              []string{authority},
		NotBefore:             begin,
		NotAfter:              now.Add(caLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return nil, fmt.Errorf("making the certificate of %s: %w", authority, err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making the key for %s: %w", dnsName, err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding the key for %s: %w", dnsName, err)
	}
	server := &x509.Certificate{
		SerialNumber:          big.NewInt(2),
		Subject:               pkix.Name{CommonName: dnsName},
		DNSNames:              []string{dnsName},
		NotBefore:             begin,
		NotAfter:              now.Add(serverLifetime),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
	}
	serverDER, err := x509.CreateCertificate(rand.Reader, server, ca, key.Public(), caKey)
	if err != nil {
		return nil, fmt.Errorf("making the certificate for %s: %w", dnsName, err)
	}
	encode := func(kind string, der []byte) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
	}
	return map[string][]byte{
		caCertificateKey:     encode("CERTIFICATE", caDER),
		caPrivateKeyKey:      encode("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(caKey)),
		serverCertificateKey: encode("CERTIFICATE", serverDER),
		serverPrivateKeyKey:  encode("PRIVATE KEY", keyDER),
	}, nil
}

// checkCertificate tells whether a Secret's data would be kept by a rotator that
// looks at it at the given moment, and if not, why.
func checkCertificate(data map[string][]byte, authority, dnsName string, at time.Time) error {
	ca, err := decodeCertificate(data, caCertificateKey)
	if err != nil {
		return err
	}
	server, err := decodeCertificate(data, serverCertificateKey)
	if err != nil {
		return err
	}
	keyBlock, _ := pem.Decode(data[caPrivateKeyKey])
	if keyBlock == nil {
		return fmt.Errorf("%s is not PEM", caPrivateKeyKey)
	}
	caKey, err := x509.ParsePKCS1PrivateKey(keyBlock.Bytes)
	if err != nil {
		return fmt.Errorf("%s is not a PKCS #1 key: %w", caPrivateKeyKey, err)
	}
	if !caKey.PublicKey.Equal(ca.PublicKey) {
		return errors.New("the authority's key is not that of its certificate")
	}
	if _, err := tls.X509KeyPair(data[serverCertificateKey], data[serverPrivateKeyKey]); err != nil {
		return fmt.Errorf("the server's key and certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(ca)
	if _, err := ca.Verify(x509.VerifyOptions{DNSName: authority, Roots: roots, CurrentTime: at}); err != nil {
		return fmt.Errorf("the authority's certificate: %w", err)
	}
	if _, err := server.Verify(x509.VerifyOptions{DNSName: dnsName, Roots: roots, CurrentTime: at}); err != nil {
		return fmt.Errorf("the server's certificate: %w", err)
	}
	return nil
}

func decodeCertificate(data map[string][]byte, key string) (*x509.Certificate, error) {
	block, _ := pem.Decode(data[key])
	if block == nil {
		return nil, fmt.Errorf("%s is not PEM", key)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return certificate, nil
}
