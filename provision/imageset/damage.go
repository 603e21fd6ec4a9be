package imageset

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"gsb.test/jobset-e2e/provision/engine"
)

// damage collects what was found damaged in the image cache, to be told once.
type damage struct {
	lock  sync.Mutex
	found []string
}

func (d *damage) note(entry string, how error) {
	then := "it is made again"
	if strings.HasPrefix(entry, "loaded-") {
		then = "it is left out until it is loaded again: make images-load FILE=f"
	}
	said := fmt.Sprintf("the cached %s is damaged (%s); %s", entry, engine.FirstLine(how), then)
	d.lock.Lock()
	defer d.lock.Unlock()
	if !slices.Contains(d.found, said) {
		d.found = append(d.found, said)
	}
}

// take returns what was found since it was last called.
func (d *damage) Take() []string {
	d.lock.Lock()
	defer d.lock.Unlock()
	found := d.found
	d.found = nil
	return found
}
