package preflight

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"strings"
	"testing"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
)

// until is far off and does not move, since the list of the lab names it.
var until = time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)

// signed makes an authority and a certificate that it signed for a host, in PEM.
func signed(host string, expires time.Time) (authority, certificate []byte) {
	issue := func(template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
		content, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
		if err != nil {
			panic(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: content})
	}
	newKey := func() *ecdsa.PrivateKey {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			panic(err)
		}
		return key
	}
	caKey, key := newKey(), newKey()
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: until,
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: []string{host}, NotAfter: expires}
	return issue(ca, ca, caKey, caKey), issue(leaf, ca, key, caKey)
}

// trusting is a manager whose two webhooks take its certificate.
func trusting(host string) WebhookCertificates {
	authority, certificate := signed(host, until)
	namespace := strings.Split(host, ".")[1]
	return WebhookCertificates{Secret: namespace + "/webhook-server-cert", Certificate: certificate, Webhooks: []Webhook{
		{Registration: "MutatingWebhookConfiguration mutate", Host: host, CABundle: authority},
		{Registration: "CustomResourceDefinition things.example", Host: host, CABundle: authority},
	}}
}

func TestTrustIsJudgedAsTheAPIServerDoes(t *testing.T) {
	t.Parallel()
	manager := cluster.Manager{Deployment: "jobset-system/jobset-controller-manager"}
	const host = "jobset-webhook-service.jobset-system.svc"
	other, _ := signed(host, until)
	lapsed, old := signed(host, time.Now().Add(-time.Hour))
	for name, wrong := range map[string]struct {
		change func(*WebhookCertificates)
		says   string
	}{
		"another authority":  {func(trust *WebhookCertificates) { trust.Webhooks[1].CABundle = other }, "CustomResourceDefinition things.example: its caBundle is of another authority"},
		"no caBundle":        {func(trust *WebhookCertificates) { trust.Webhooks[0].CABundle = nil }, "MutatingWebhookConfiguration mutate: it has no caBundle"},
		"rubbish for one":    {func(trust *WebhookCertificates) { trust.Webhooks[0].CABundle = []byte("Cg==") }, "its caBundle holds no certificate"},
		"another host":       {func(trust *WebhookCertificates) { trust.Webhooks[0].Host = "webhook.elsewhere.svc" }, "not webhook.elsewhere.svc"},
		"lapsed":             {func(trust *WebhookCertificates) { trust.Certificate, trust.Webhooks[0].CABundle = old, lapsed }, "expired"},
		"no certificate":     {func(trust *WebhookCertificates) { trust.Certificate = []byte("-") }, "the secret's tls.crt is no certificate"},
		"nothing registered": {func(trust *WebhookCertificates) { trust.Webhooks = nil }, "no webhook is registered that leads to Deployment jobset-system/jobset-controller-manager"},
	} {
		trust := trusting(host)
		wrong.change(&trust)
		if finding := certificatesMatch("JobSet", manager, trust); !finding.Wrong() || !strings.Contains(finding.Message, wrong.says) {
			t.Errorf("%s: %+v", name, finding)
		}
	}
}

func TestWhatCannotBeComparedIsANoteAndNotWrong(t *testing.T) {
	t.Parallel()
	manager := cluster.Manager{Deployment: "jobset-system/jobset-controller-manager"}
	const host = "jobset-webhook-service.jobset-system.svc"
	for name, change := range map[string]func(*WebhookCertificates){
		"refused":   func(trust *WebhookCertificates) { trust.Unread = errors.New("secrets is forbidden") },
		"no secret": func(trust *WebhookCertificates) { trust.Certificate = nil },
	} {
		trust := trusting(host)
		change(&trust)
		if finding := certificatesMatch("JobSet", manager, trust); finding.Wrong() || finding.Note == "" || !strings.Contains(finding.Message, "not compared") {
			t.Errorf("%s: %+v", name, finding)
		}
	}
}

func TestOnlyARegistrationThatHoldsNothingIsToBeDeleted(t *testing.T) {
	t.Parallel()
	const host = "jobset-webhook-service.jobset-system.svc"
	other, _ := signed(host, until)
	for at, deletes := range []bool{true, false} {
		trust := trusting(host)
		trust.Webhooks[at].CABundle = other
		finding := certificatesMatch("JobSet", cluster.Manager{Deployment: "jobset-system/jobset-controller-manager"}, trust)
		if strings.Contains(finding.Fix, "kubectl delete mutatingwebhookconfiguration mutate") != deletes || strings.Contains(finding.Fix, "delete customresourcedefinition") {
			t.Errorf("%s: %s", trust.Webhooks[at].Registration, finding.Fix)
		}
	}
}

func TestManyWebhooksOfOneRegistrationAreReportedOnce(t *testing.T) {
	t.Parallel()
	const host = "kueue-webhook-service.kueue-system.svc"
	trust := trusting(host)
	other, _ := signed(host, until)
	for i := range trust.Webhooks {
		trust.Webhooks[i] = Webhook{"MutatingWebhookConfiguration mutate", host, other}
	}
	finding := certificatesMatch("Kueue", cluster.Manager{Deployment: "kueue-system/kueue-controller-manager"}, trust)
	if strings.Contains(finding.Message, "more like it") || !strings.Contains(finding.Fix, "kubectl -n kueue-system rollout restart deployment/kueue-controller-manager") {
		t.Errorf("%+v", finding)
	}
}
