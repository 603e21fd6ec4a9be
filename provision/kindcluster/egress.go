package kindcluster

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"gsb.test/jobset-e2e/provision/source"
)

// sealScript forbids the node, and every pod on it, to open a connection to the
// outside. Everything a lab needs is in its node, however it was come by, so none
// is needed; a step that would wait for a pull fails at once instead; and a packet
// to a Service address that kube-proxy has not programmed yet would otherwise
// leave by the default route.
//
// The way out that a rule sees is the one chosen before a Service address is
// translated, so what goes to the node itself or to its pods is let through by
// the address it is translated to. A pod that is gone has no route of its own any
// more, and what still goes to its address would take the default route, so the
// pods' addresses as a whole are made unreachable; those that are there lie in front.
const egressScript = `#!/bin/sh
set -eu
ip route replace unreachable ` + source.PodSubnet + `
for tables in iptables ip6tables; do
	"$tables" -w -L -n >/dev/null 2>&1 || continue # no such protocol on this host: nothing to seal
	"$tables" -w -N LAB-SEAL 2>/dev/null || "$tables" -w -F LAB-SEAL
	[ "$tables" = ip6tables ] || "$tables" -w -A LAB-SEAL -d ` + source.PodSubnet + ` -j RETURN
	"$tables" -w -A LAB-SEAL -m addrtype --dst-type LOCAL -j RETURN
	"$tables" -w -A LAB-SEAL -j REJECT
	for chain in OUTPUT FORWARD; do
		set -- "$chain" -o eth0 -m conntrack --ctstate NEW -j LAB-SEAL
		"$tables" -w -C "$@" 2>/dev/null || "$tables" -w -I "$@"
	done
done
`

// sealUnit has systemd seal the node before kubelet starts, and with it every
// controller; again at every start of the node. Nothing has to be quick enough,
// as a command run in the node from outside would have to be.
const egressUnit = "[Service]\nExecStartPre=/bin/sh /usr/local/sbin/lab-seal\n"

// sealFiles are the seal's files in the node.
var egressFiles = []struct{ path, text string }{
	{"/usr/local/sbin/lab-seal", egressScript},
	{"/etc/systemd/system/kubelet.service.d/20-seal.conf", egressUnit},
}

// writeSeal writes the seal's files below folder and returns the mounts that put
// them into a node of any image: kind's own does not have them.
func WriteEgressRules(folder string) ([]v1alpha4.Mount, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("writing the node's seal: %w", err)
	}
	var mounts []v1alpha4.Mount
	for _, inside := range egressFiles {
		path := filepath.Join(folder, filepath.Base(inside.path))
		if err := os.WriteFile(path, []byte(inside.text), 0o644); err != nil {
			return nil, fmt.Errorf("writing the node's seal: %w", err)
		}
		mounts = append(mounts, v1alpha4.Mount{HostPath: path, ContainerPath: inside.path, Readonly: true})
	}
	return mounts, nil
}
