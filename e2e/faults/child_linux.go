package faults

import "syscall"

// childAttributes give a suite a process group of its own: an interrupt from the
// keyboard reaches it once, from here. It ends when this program is killed, so
// that it does not go on in a lab that somebody restores meanwhile.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
