//go:build !linux

package process

import "syscall"

// endsWithUs does nothing: this system cannot end a program with its parent.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
