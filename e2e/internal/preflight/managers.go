package preflight

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"time"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

func managerAvailable(name string, manager cluster.Manager, pinned string, webhook error, asked bool) Finding {
	finding, codes := Finding{Check: name, Message: text.OrNone(manager.Version) + ", webhook answers"}, codesOf[name]
	switch {
	case manager.Deployment == "":
		finding.Code = codes.notInstalled
		finding.Message = fmt.Sprintf("no Deployment runs an image named %s", strings.ToLower(name))
		finding.Fix, finding.Passes = remakeFix+"install "+name+" "+pinned, true
		return finding
	case !manager.Available:
		finding.Code = codes.unavailable
		namespace, deployment, _ := strings.Cut(manager.Deployment, "/")
		finding.Message = fmt.Sprintf("Deployment %s is not available: %s", manager.Deployment, manager.Why)
		finding.Fix = fmt.Sprintf("kubectl -n %s describe deployment %s says why", namespace, deployment)
		finding.Passes = true
	case webhook != nil:
		finding.Code = codes.webhookUnanswered
		if strings.Contains(webhook.Error(), "x509") {
			finding.Code = codes.certificateUntrusted
		}
		finding.Message = "a dry run was not answered: " + webhook.Error()
		finding.Fix = "wait half a minute and try again; if it stays, kubectl -n " + strings.Replace(manager.Deployment, "/", " logs deployment/", 1)
		finding.Passes = passing(webhook)
	case !asked:
		finding.Message = text.OrNone(manager.Version)
	}
	if strings.TrimPrefix(manager.Version, "v") != strings.TrimPrefix(pinned, "v") {
		if !finding.Wrong() {
			finding.Code = codes.versionMismatch
		}
		finding.Note = "the lab pins " + pinned + ", so a run on this one is partial"
	}
	return finding
}

// certificatesMatch judges whether the API server will take the certificate that a manager
// serves for each webhook that leads to it. One that it does not take shows only
// when that very webhook is called (kueue#12008, kueue#5509).
func certificatesMatch(name string, manager cluster.Manager, trust WebhookCertificates) Finding {
	finding, codes := Finding{Check: name + "'s trust"}, codesOf[name]
	switch {
	case manager.Deployment == "":
		finding.Message = "not compared, for " + name + " is not there"
		return finding
	case trust.Unread != nil:
		finding.Message, finding.Note = "not compared", trust.Unread.Error()
		return finding
	case len(trust.Webhooks) == 0:
		finding.Code = codes.webhookNotFound
		finding.Message = "no webhook is registered that leads to Deployment " + manager.Deployment
		finding.Fix, finding.Passes = remakeFix+"apply "+name+"'s manifest again", true
		return finding
	case trust.Certificate == nil:
		finding.Message = fmt.Sprintf("not compared: the pods of Deployment %s mount no secret with a certificate", manager.Deployment)
		finding.Note = "what they serve comes from elsewhere; the dry run shows whether it is taken"
		return finding
	}
	var wrong []string
	var first Webhook
	var settled bool
	counted := map[string]int{}
	for _, hook := range trust.Webhooks {
		if err := verifies(trust.Certificate, hook); err != nil {
			reported := fmt.Sprintf("%s: %v", hook.Registration, err)
			if counted[reported]++; counted[reported] == 1 {
				wrong = append(wrong, reported)
			}
			if len(wrong) == 1 {
				first = hook
			}
			settled = settled || len(hook.CABundle) > 0
		}
	}
	if len(wrong) == 0 {
		finding.Message = fmt.Sprintf("%d webhooks take the certificate of secret %s, valid until %s",
			len(trust.Webhooks), trust.Secret, expiry(trust.Certificate))
		return finding
	}
	finding.Code = codes.certificateUntrusted
	finding.Message = fmt.Sprintf("the API server will not take the certificate of secret %s: %s", trust.Secret, wrong[0])
	if len(wrong) > 1 {
		finding.Message += fmt.Sprintf(" (and %d more like it)", len(wrong)-1)
	}
	finding.Fix = fmt.Sprintf("kubectl -n %s: it writes its own authority into its webhooks when it starts, unless cert-manager is to do that",
		strings.Replace(manager.Deployment, "/", " rollout restart deployment/", 1))
	// A manager writes its authority before it is available, and not again after.
	finding.Passes = !manager.Available || !settled
	// A CustomResourceDefinition takes all objects of its kind with it.
	if kind, called, _ := strings.Cut(first.Registration, " "); strings.HasSuffix(kind, "WebhookConfiguration") {
		finding.Fix += fmt.Sprintf("; or, where an earlier installation left it: kubectl delete %s %s", strings.ToLower(kind), called)
	}
	return finding
}

// verifies checks a certificate as the API server does when it calls a webhook.
func verifies(certificate []byte, hook Webhook) error {
	chain, err := parseChain(certificate)
	if err != nil {
		return err
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	switch {
	case len(hook.CABundle) == 0:
		return errors.New("it has no caBundle")
	case !roots.AppendCertsFromPEM(hook.CABundle):
		return errors.New("its caBundle holds no certificate")
	}
	for _, other := range chain[1:] {
		between.AddCert(other)
	}
	_, err = chain[0].Verify(x509.VerifyOptions{DNSName: hook.Host, Roots: roots, Intermediates: between})
	var unknown x509.UnknownAuthorityError
	if errors.As(err, &unknown) {
		return fmt.Errorf("its caBundle is of another authority: %w", err)
	}
	return err
}

func parseChain(certificate []byte) ([]*x509.Certificate, error) {
	var chain []*x509.Certificate
	for block, rest := pem.Decode(certificate); block != nil; block, rest = pem.Decode(rest) {
		parsed, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("the secret's tls.crt is no certificate: %w", err)
		}
		chain = append(chain, parsed)
	}
	if len(chain) == 0 {
		return nil, errors.New("the secret's tls.crt is no certificate")
	}
	return chain, nil
}

func isFor(certificate []byte, host string) bool {
	chain, err := parseChain(certificate)
	return err == nil && chain[0].VerifyHostname(host) == nil
}

func expiry(certificate []byte) string {
	chain, err := parseChain(certificate)
	if err != nil {
		return "not known"
	}
	return chain[0].NotAfter.UTC().Format(time.DateOnly)
}
