// Package steps holds the eight steps of the lab and the mistakes that learners make in
// them: one file a step, and one list.
package steps

import (
	"gsb.test/jobset-e2e/e2e/lab"
)

// Course is the lab of the lab text. A new step is one more name in this list.
var Course = lab.Course{
	Steps:    []lab.Step{helloStep, dnsStep, labelsStep, fragileStep, evalStep, trainStep, bigStep, reportStep},
	Mistakes: mistakes,
	Probes:   probes,
}
