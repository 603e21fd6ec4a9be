package e2e

import "gsb.test/jobset-e2e/e2e/lab"

// course is the lab of the lab text. A new step is one more name in this list.
var course = lab.Course{
	Steps:    []lab.Step{helloStep, dnsStep, labelsStep, fragileStep, evalStep, trainStep, bigStep, reportStep},
	Mistakes: mistakes,
}
