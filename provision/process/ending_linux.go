package process

import "syscall"

// endsWithUs asks the kernel for a SIGTERM to the program when this one is gone:
// it can still clean up what it made.
func endsWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
