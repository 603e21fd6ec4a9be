package source

import (
	"context"
	"strings"
)

// suiteName is the Debian release the node's root is made of: its systemd (252) is
// the last that boots on a cgroup v1 host, and its busybox (1.35.0) is the one
// that the learner's files name.
const suiteName = "bookworm"

// nodePackages are what kind's own base image installs, less network file
// systems, plus runc and the busybox that becomes the steps' image.
var nodePackages = []string{
	"systemd", "systemd-sysv", "dbus", "conntrack", "iptables", "nftables", "iproute2", "ethtool",
	"util-linux", "mount", "kmod", "libseccomp2", "e2fsprogs", "bash", "ca-certificates", "curl", "jq",
	"procps", "runc", "busybox-static",
}

// proxyPackages are what kube-proxy calls.
var proxyPackages = []string{"iptables", "nftables"}

// bootstrap lines: what is left out of the root, and the boot units that make no
// sense in a container (kind's base image removes the same ones).
var nodeOptions = []string{
	"--variant=apt",
	`--aptopt=APT::Install-Recommends "false"`,
	"--dpkgopt=force-unsafe-io", // a root that did not reach the disk is made again
	"--dpkgopt=path-exclude=/usr/share/doc/*",
	"--dpkgopt=path-exclude=/usr/share/man/*",
	"--dpkgopt=path-exclude=/usr/share/locale/*",
	`--customize-hook=cd "$1" && rm -f lib/systemd/system/multi-user.target.wants/* etc/systemd/system/*.wants/*` +
		` lib/systemd/system/local-fs.target.wants/* lib/systemd/system/sockets.target.wants/*udev*` +
		` lib/systemd/system/sockets.target.wants/*initctl* lib/systemd/system/basic.target.wants/*` +
		` lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service etc/hostname etc/resolv.conf` +
		` && echo ReadKMsg=no >> etc/systemd/journald.conf`,
}

// proxyOptions unpack packages without running their scripts: kube-proxy needs
// the programs and their libraries only.
var proxyOptions = []string{"--variant=extract", "--dpkgopt=path-exclude=/usr/share/*", "--dpkgopt=path-exclude=/usr/lib/*/gconv/*"}

// debian makes a root of Debian packages as one tar file. apt checks the packages with
// the archive's signing key from Debian's keyring.
func debian(ctx context.Context, options, packages []string, tarFile string) error {
	args := append([]string{"--quiet", "--include=" + strings.Join(packages, ",")}, options...)
	return run(ctx, "", nil, "mmdebstrap", append(args, suiteName, tarFile)...)
}
