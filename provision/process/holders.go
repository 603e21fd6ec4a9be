package process

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Holders returns the other processes that have a file open, as shown by /proc; none
// without /proc.
func Holders(path string) []int {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	descriptors, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		return nil
	}
	var pids []int
	for _, descriptor := range descriptors {
		if target, err := os.Readlink(descriptor); err != nil || target != real {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(descriptor, "/")[2])
		if err == nil && pid != os.Getpid() && (len(pids) == 0 || pids[len(pids)-1] != pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}
