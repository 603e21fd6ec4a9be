package source

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Memory is how much this machine has, in bytes.
func Memory() (uint64, error) {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0, fmt.Errorf("asking for the machine's memory: %w", err)
	}
	return info.Totalram * uint64(info.Unit), nil
}
