package text

import (
	"regexp"
	"slices"
	"strings"
)

// secrets are what opens something for whoever reads it, wherever it turns up: in a
// learner's file, a log, an object's environment or an error. Each keeps what stands
// around its value, quotes and line ends included, so that JSON and YAML stay what they are.
var secrets = []secret{
	{[]string{"private key-----"}, regexp.MustCompile(`(-----BEGIN [A-Z ]*PRIVATE KEY-----)[A-Za-z0-9+/=\s\\nr]+(-----END)?`)},
	// A JSON Web Token, such as a service account's.
	{[]string{"eyj"}, regexp.MustCompile(`()\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?()`)},
	// The data of a kubeconfig.
	{[]string{"-data"}, regexp.MustCompile(`((?:client-key|client-certificate|certificate-authority)-data["'\\]*\s*[:=]\s*["'\\]*)[A-Za-z0-9+/=_-]+()`)},
	// PEM in base64, as a kubeconfig and a Secret hold it.
	{[]string{"ls0tls1crudjti"}, regexp.MustCompile(`()\bLS0tLS1CRUdJTi[A-Za-z0-9+/=]+()`)},
	{[]string{"bearer", "basic"}, regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9+/=_.~-]{16,}()`)},
	{[]string{"token", "passw", "key", "secret"}, regexp.MustCompile(
		`(?i)((?:token|password|passwd|api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|client[-_]?secret)["'\\]*\s*[:=]\s*["'\\]*)[^\s"'\\,;&<>{}\[\]()]+()`)},
	// Bootstrap tokens, and those of forges and clouds that are known by how they begin.
	{[]string{"token", "bootstrap", "kubeadm"}, regexp.MustCompile(`()\b[a-z0-9]{6}\.[a-z0-9]{16}\b()`)},
	{[]string{"gh", "glpat-", "akia", "hf_", "sk-"}, regexp.MustCompile(
		`()\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{16,}|AKIA[A-Z0-9]{16}|hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_-]{20,})()`)},
	// A user's password in a URL.
	{[]string{"://"}, regexp.MustCompile(`(://[^\s/:@"']*:)[^\s/@"']+(@)`)},
}

// A secret is found by its pattern in a text that has one of the hints, in small
// letters: patterns are slow, and most texts hold none.
type secret struct {
	hints   []string
	pattern *regexp.Regexp
}

// Redacted stands where a secret was.
const Redacted = "[redacted]"

// Redact returns text with the secrets in it taken out.
func Redact(text string) string {
	small := strings.ToLower(text)
	for _, secret := range secrets {
		if slices.ContainsFunc(secret.hints, func(hint string) bool { return strings.Contains(small, hint) }) {
			text = secret.pattern.ReplaceAllString(text, "${1}"+Redacted+"${2}")
		}
	}
	return text
}
