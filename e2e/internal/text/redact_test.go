package text

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	jwt := "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzL3NlcnZpY2VhY2NvdW50In0.c2lnbmF0dXJlc2lnbmF0dXJl"
	for name, text := range map[string]string{
		"a service account's token": "token file says PLANTED" + "\n" + jwt,
		"a kubeconfig":              "users:\n- user:\n    client-key-data: PLANTEDa2V5\n    client-certificate-data: PLANTEDY2VydA==\n    token: PLANTED-abc",
		"a kubeconfig as JSON":      `{"client-key-data":"PLANTEDa2V5","token":"PLANTED"}`,
		"JSON within JSON":          `"{\"password\":\"PLANTED\"}"`,
		"an environment":            "AWS_SECRET_ACCESS_KEY=PLANTED/x+y DB_PASSWORD=PLANTED",
		"a header":                  "Authorization: Bearer PLANTED-abcdefghijklmnop",
		"a private key":             "-----BEGIN EC PRIVATE KEY-----\nPLANTEDPLANTED\n-----END EC PRIVATE KEY-----",
		"a URL":                     "https://robot:PLANTED@registry.local/v2/",
	} {
		clean := Redact(text)
		if name == "a service account's token" {
			if strings.Contains(clean, jwt[:20]) || !strings.Contains(clean, "token file says") {
				t.Errorf("%s: %s", name, clean)
			}
			continue
		}
		if strings.Contains(clean, "PLANTED") || !strings.Contains(clean, Redacted) {
			t.Errorf("%s: %s", name, clean)
		}
		if strings.HasPrefix(text, "{") && !json.Valid([]byte(clean)) {
			t.Errorf("%s is no JSON any more: %s", name, clean)
		}
	}
}

func TestWhatIsNoSecretStays(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"restarts=1", "jobset.sigs.k8s.io/jobset-name=hello", "hello-leader-0-0.hello.ml.svc.cluster.local",
		"couldn't assign flavors to pod set leader: insufficient unused quota for nvidia.com/gpu in flavor default-flavor, 1 more needed",
		"Secret kueue-webhook-server-cert", "uid 1b4e28ba-2fa1-11d2-883f-0016d3cca427", "https://127.0.0.1:40605",
		"the bearer of this message is basic", "wait for the token to come",
	} {
		if clean := Redact(text); clean != text {
			t.Errorf("%s became %s", text, clean)
		}
	}
}
