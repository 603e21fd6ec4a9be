package imageset

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gsb.test/jobset-e2e/provision/engine"
)

// damage collects damaged entries of the image cache, each once.
type damage struct {
	lock  sync.Mutex
	found []string
}

func (d *damage) note(entry string, how error) {
	then := "it is made again"
	if strings.HasPrefix(entry, "loaded-") {
		then = "it is left out until it is loaded again: .lab/bin/lab images load FILE"
	}
	summary := fmt.Sprintf("the cached %s is damaged (%s); %s", entry, engine.FirstLine(how), then)
	d.lock.Lock()
	defer d.lock.Unlock()
	if !slices.Contains(d.found, summary) {
		d.found = append(d.found, summary)
	}
}

// Take returns the entries found since the last call.
func (d *damage) Take() []string {
	d.lock.Lock()
	defer d.lock.Unlock()
	found := d.found
	d.found = nil
	return found
}
