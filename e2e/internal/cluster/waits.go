package cluster

import (
	"time"

	"github.com/onsi/gomega"
)

// The two waits of the whole project.
const (
	// SoonEnough is how long anything the lab promises may take. CoreDNS
	// remembers for 30 s that a name did not exist, and asking again must
	// outlive that.
	SoonEnough = 60 * time.Second

	// NeverWithin is how long something that must not happen is watched for,
	// once the controllers have shown that they looked.
	NeverWithin = 2 * time.Second

	// lookEvery is the pause between two looks at the cluster.
	lookEvery = 250 * time.Millisecond
)

// LookWithin is how long one look may take: an API server that does not answer must
// not use up a whole wait. Only a test of such a server makes it shorter.
var LookWithin = 10 * time.Second

// SetWaits makes the two waits Gomega's own, also where a context is given.
func SetWaits() {
	gomega.SetDefaultEventuallyTimeout(SoonEnough)
	gomega.SetDefaultEventuallyPollingInterval(lookEvery)
	gomega.SetDefaultConsistentlyDuration(NeverWithin)
	gomega.SetDefaultConsistentlyPollingInterval(lookEvery)
	gomega.EnforceDefaultTimeoutsWhenUsingContexts()
}
