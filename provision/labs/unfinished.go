package labs

import (
	"fmt"
	"sync/atomic"
)

// Unfinished is the work on a lab that has begun and not ended, which a second
// interrupt cuts off. Its zero value and nil are ready for use.
type Unfinished struct {
	now atomic.Pointer[unfinishedWork]
}

type unfinishedWork struct{ lab, doing string }

// Begin notes that from now on the lab is incomplete, or used by a command.
func (u *Unfinished) Begin(lab, doing string) {
	if u != nil {
		u.now.Store(&unfinishedWork{lab, doing})
	}
}

// Finish notes that the lab is complete, or that nothing of it is left.
func (u *Unfinished) Finish() {
	if u != nil {
		u.now.Store(nil)
	}
}

// String says, after an end without a cleanup, what is left and what to type.
func (u *Unfinished) String() string {
	cut := u.now.Load()
	if cut == nil {
		return "   No lab was being made or removed: every lab is as it was.\n"
	}
	return fmt.Sprintf("   The lab %s was being %s: its container, network, volume, kubeconfig and its file in the list of labs may be left.\n"+
		"   To remove them: make down LAB_NAME=%s\n", cut.lab, cut.doing, cut.lab)
}
