//go:build !linux

package process

import "syscall"

// endsWithUs cannot tie a program's life to ours on this system.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
