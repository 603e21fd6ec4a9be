package kindcluster

import (
	"testing"

	. "github.com/onsi/gomega"

	"gsb.test/jobset-e2e/provision/images"
)

func TestImagesInTheNodeAreKnownByNameAndDigest(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	// What ctr images ls prints.
	const table = `REF                                   TYPE                                                 DIGEST      SIZE     PLATFORMS   LABELS
docker.io/library/busybox:1.35.0      application/vnd.docker.distribution.manifest.v2+json sha256:aa   1.0 MiB  linux/amd64 io.cri-containerd.image=managed
registry.k8s.io/jobset/jobset:v0.12.0 application/vnd.docker.distribution.manifest.v2+json sha256:bb   19.0 MiB linux/amd64 io.cri-containerd.image=managed
sha256:cc                             application/vnd.docker.distribution.manifest.v2+json sha256:aa   1.0 MiB  linux/amd64 io.cri-containerd.image=managed
`
	busybox := images.Image{Ref: "docker.io/library/busybox:1.35.0", Digest: "sha256:aa"}
	g.Expect(missingFrom(table, []images.Image{busybox, {Ref: "registry.k8s.io/jobset/jobset:v0.12.0", Digest: "sha256:bb"}})).To(BeEmpty())
	for _, test := range []struct {
		image images.Image
		says  string
	}{
		{images.Image{Ref: busybox.Ref, Digest: "sha256:bb"}, "docker.io/library/busybox:1.35.0 is sha256:aa, not sha256:bb"},
		{images.Image{Ref: "docker.io/library/busybox:1.36.0", Digest: "sha256:aa"}, "docker.io/library/busybox:1.36.0 is not there"},
		{images.Image{Ref: "busybox:1.35.0", Digest: "sha256:aa"}, "busybox:1.35.0 is not there"},
		{images.Image{Ref: "DIGEST", Digest: "sha256:aa"}, "DIGEST is not there"},
	} {
		g.Expect(missingFrom(table, []images.Image{busybox, test.image})).To(Equal([]string{test.says}))
	}
	g.Expect(missingFrom("", []images.Image{busybox})).To(HaveLen(1))
}
