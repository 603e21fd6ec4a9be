package provision

import (
	"fmt"
	"sync/atomic"
)

// unfinished is what was begun on a lab and has not come to its end yet: what the
// second interrupt cuts off.
type unfinished struct{ lab, doing string }

var underway atomic.Pointer[unfinished]

// begin notes that from now on the lab is not whole, or not its user's; finish that
// it is whole, or that nothing of it is left.
func (l *Lab) begin(doing string) { underway.Store(&unfinished{l.Name, doing}) }
func (l *Lab) finish()            { underway.Store(nil) }

// whatIsLeft says, after an end without a cleanup, what is left and what to type.
func whatIsLeft() string {
	cut := underway.Load()
	if cut == nil {
		return "   No lab was being made or removed: what stands is as it was.\n"
	}
	return fmt.Sprintf("   The lab %s was being %s: its container, network, volume, kubeconfig and its file in the list of labs may be left.\n"+
		"   To remove them: make down LAB_NAME=%s\n", cut.lab, cut.doing, cut.lab)
}
