//go:build !linux

package faults

import "syscall"

// childAttributes give a suite a process group of its own: an interrupt from the
// keyboard reaches it once, from here.
func childAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
