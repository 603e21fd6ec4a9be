package source

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Memory is how much this machine has, in bytes. Docker's virtual machine has less.
func Memory() (uint64, error) {
	total, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 0, fmt.Errorf("asking for the machine's memory: %w", err)
	}
	return total, nil
}
