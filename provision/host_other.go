//go:build !linux

package provision

import "runtime"

// systemFindings says where the node runs outside Linux.
func systemFindings() []finding {
	return []finding{{name: "system", found: runtime.GOOS + "/" + runtime.GOARCH + ": Docker runs the node in its own virtual machine"}}
}
