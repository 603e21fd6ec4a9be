package page

import (
	"os"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/cluster"
	"gsb.test/jobset-e2e/e2e/internal/text"
)

// Record saves what happened in a run: what was seen of the lab, and what was done.
func Record(w *cluster.Cluster, results types.Report) error {
	histories, events := w.Recorded()
	end := text.Seconds(results.RunTime)
	t := newTimeline(results.StartTime, end, histories, events)
	t.addSpecs(results.SpecReports)
	t.Lab, t.Quota, t.Devices = w.Config.Host, w.Pins.Quota, w.Pins.GPUs
	t.Host, _ = os.Hostname() // without it the page says one thing less
	return t.save(w.Settings.Reports)
}
