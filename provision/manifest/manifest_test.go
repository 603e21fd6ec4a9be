package manifest

import (
	"strings"
	"testing"
)

func TestWhatIsNoManifestIsReportedByDocument(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, manifest, says string }{
		{"empty", "", "no object"},
		{"only comments", "# nothing\n---\n# here\n", "no object"},
		{"not YAML", "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\na: [1", "document 2"},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}", "document 1"},
		{"no name", "apiVersion: v1\nkind: Namespace", "document 1"},
		{"a page of HTML", "<html><body>404</body></html>", "document 1"},
	} {
		if _, err := Parse([]byte(test.manifest)); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v; it should say %q", test.name, err, test.says)
		}
	}
}
