package kindcluster

import (
	"testing"

	"gsb.test/jobset-e2e/provision/engine/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }
