package provision

import (
	"testing"

	"gsb.test/jobset-e2e/fixtures/fixturestest"
	"gsb.test/jobset-e2e/provision/labs"
)

func testLab(t *testing.T, name string) *labs.Lab {
	t.Helper()
	return &labs.Lab{Name: name, Checkout: t.TempDir(), Folder: t.TempDir(), Pins: fixturestest.Pins(t)}
}
