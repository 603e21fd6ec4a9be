package kindcluster

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"gsb.test/jobset-e2e/provision/source"
)

// egressScript forbids the node and its pods to open connections to the outside. The
// node contains every image, so no connection is needed. A step that would wait for a
// pull fails at once, and a packet to a Service address that kube-proxy does not know
// yet cannot leave by the default route.
//
// A rule sees the route chosen before a Service address is translated. So traffic to
// the node itself or to its pods is accepted by its translated address. A deleted pod
// has no route, and traffic to its address would take the default route. Therefore the
// whole pod subnet is unreachable; the routes of existing pods are more specific.
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

// egressUnit runs the script before kubelet, and so before every controller, at each
// start of the node. A command run from outside the node could be too late.
const egressUnit = "[Service]\nExecStartPre=/bin/sh /usr/local/sbin/lab-seal\n"

// apiRoute leads the API server's Service address to the API server, before kubelet
// starts anything. kube-proxy programs that address, with rules before this one, seconds
// after the first pods start. A controller that finds no API server meanwhile ends, and
// is started again after ever longer pauses.
func apiRoute() string {
	unit := "[Service]\n"
	for _, chain := range []string{"PREROUTING", "OUTPUT"} {
		rule := chain + " -d " + apiAddress + " -p tcp --dport 443 -j REDIRECT --to-ports 6443"
		unit += fmt.Sprintf("ExecStartPre=/bin/sh -c 'iptables -w -t nat -C %[1]s 2>/dev/null || iptables -w -t nat -A %[1]s'\n", rule)
	}
	return unit
}

// apiAddress is the first address of kind's subnet of Services.
const apiAddress = "10.96.0.1/32"

// A nodeFile is a file of this machine in the node.
type nodeFile struct{ path, text string }

// WriteEgressRules writes the files of the egress rules below folder and returns the
// mounts that put them into a node of any image.
func WriteEgressRules(folder string) ([]v1alpha4.Mount, error) {
	return mounted(folder, nodeFile{"/usr/local/sbin/lab-seal", egressScript},
		nodeFile{"/etc/systemd/system/kubelet.service.d/20-seal.conf", egressUnit})
}

// WriteAPIRoute is WriteEgressRules for the route to the API server.
func WriteAPIRoute(folder string) ([]v1alpha4.Mount, error) {
	return mounted(folder, nodeFile{"/etc/systemd/system/kubelet.service.d/30-api.conf", apiRoute()})
}

func mounted(folder string, files ...nodeFile) ([]v1alpha4.Mount, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("writing the node's files: %w", err)
	}
	var mounts []v1alpha4.Mount
	for _, inside := range files {
		path := filepath.Join(folder, filepath.Base(inside.path))
		if err := os.WriteFile(path, []byte(inside.text), 0o644); err != nil {
			return nil, fmt.Errorf("writing the node's files: %w", err)
		}
		mounts = append(mounts, v1alpha4.Mount{HostPath: path, ContainerPath: inside.path, Readonly: true})
	}
	return mounts, nil
}
