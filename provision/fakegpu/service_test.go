package main

import (
	"context"
	"testing"

	. "github.com/onsi/gomega"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// request is what kubelet asks for: the ids of each container's devices.
func request(containers ...[]string) *pluginapi.AllocateRequest {
	r := &pluginapi.AllocateRequest{}
	for _, ids := range containers {
		r.ContainerRequests = append(r.ContainerRequests, &pluginapi.ContainerAllocateRequest{DevicesIds: ids})
	}
	return r
}

func TestAllocate(t *testing.T) {
	g := NewWithT(t)
	kubelet := startKubelet(t, socketDirectory(t))
	p := startPlugin(t, kubelet.directory)
	g.Eventually(kubelet.allocatable).Should(Equal(allHealthy))
	g.Expect(p.devices.setHealth("gpu-1", pluginapi.Unhealthy)).To(Equal(true))
	plugin := kubelet.client()

	for _, wrong := range []struct {
		name    string
		request *pluginapi.AllocateRequest
		code    codes.Code
		message string
	}{
		{"unknown", request([]string{"gpu-4"}), codes.NotFound, `nvidia.com/gpu has no device "gpu-4": this node has gpu-0, gpu-1, gpu-2, gpu-3`},
		{"nearly known", request([]string{"gpu-0 "}), codes.NotFound, `no device "gpu-0 "`},
		{"one of two unknown", request([]string{"gpu-0", "GPU-2"}), codes.NotFound, `no device "GPU-2"`},
		{"unhealthy", request([]string{"gpu-1"}), codes.FailedPrecondition, "device gpu-1 is Unhealthy"},
		{"one of two unhealthy", request([]string{"gpu-0", "gpu-1"}), codes.FailedPrecondition, "device gpu-1 is Unhealthy"},
		{"twice in a container", request([]string{"gpu-2", "gpu-2"}), codes.InvalidArgument, "device gpu-2 is asked for twice"},
		{"in two containers", request([]string{"gpu-2"}, []string{"gpu-3", "gpu-2"}), codes.InvalidArgument, "device gpu-2 is asked for twice"},
		{"none", request([]string{}), codes.InvalidArgument, "asks for no nvidia.com/gpu"},
	} {
		t.Run(wrong.name, func(t *testing.T) {
			g := NewWithT(t)
			response, err := plugin.Allocate(context.Background(), wrong.request)
			g.Expect(response).To(BeNil())
			g.Expect(status.Code(err)).To(Equal(wrong.code), "%v", err)
			g.Expect(err).To(MatchError(ContainSubstring(wrong.message)))
		})
	}

	for _, right := range []struct {
		name    string
		request *pluginapi.AllocateRequest
		visible []string
	}{
		{"one", request([]string{"gpu-2"}), []string{"gpu-2"}},
		{"in the order of the table", request([]string{"gpu-3", "gpu-0", "gpu-2"}), []string{"gpu-0,gpu-2,gpu-3"}},
		{"two containers", request([]string{"gpu-3"}, []string{"gpu-2", "gpu-0"}), []string{"gpu-3", "gpu-0,gpu-2"}},
		{"the same once more, as after a container's restart", request([]string{"gpu-2"}), []string{"gpu-2"}},
	} {
		t.Run(right.name, func(t *testing.T) {
			g := NewWithT(t)
			response, err := plugin.Allocate(context.Background(), right.request)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(response.GetContainerResponses()).To(HaveLen(len(right.visible)))
			for i, container := range response.GetContainerResponses() {
				g.Expect(container.GetEnvs()).To(Equal(map[string]string{"NVIDIA_VISIBLE_DEVICES": right.visible[i]}))
				g.Expect(container.GetDevices()).To(BeEmpty(), "there is no device file to give")
			}
		})
	}

	t.Run("healthy again", func(t *testing.T) {
		g := NewWithT(t)
		g.Expect(p.devices.setHealth("gpu-1", pluginapi.Healthy)).To(Equal(true))
		g.Expect(plugin.Allocate(context.Background(), request([]string{"gpu-1"}))).NotTo(BeNil())
	})
}

func TestOrderIsTheTablesNotTheAlphabets(t *testing.T) {
	g := NewWithT(t)
	s := &service{resource: "nvidia.com/gpu", devices: newDevices(12)}
	response, err := s.Allocate(context.Background(), request([]string{"gpu-10", "gpu-9", "gpu-2"}))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(response.GetContainerResponses()[0].GetEnvs()).To(HaveKeyWithValue("NVIDIA_VISIBLE_DEVICES", "gpu-2,gpu-9,gpu-10"))
}

func TestDoesNotOfferWhatItsOptionsDeny(t *testing.T) {
	g := NewWithT(t)
	s := &service{resource: "nvidia.com/gpu", devices: newDevices(4)}
	_, err := s.GetPreferredAllocation(context.Background(), &pluginapi.PreferredAllocationRequest{})
	g.Expect(status.Code(err)).To(Equal(codes.Unimplemented))
	_, err = s.PreStartContainer(context.Background(), &pluginapi.PreStartContainerRequest{})
	g.Expect(status.Code(err)).To(Equal(codes.Unimplemented))
}

func TestOnlyAChangeOfHealthIsAChange(t *testing.T) {
	g := NewWithT(t)
	d := newDevices(4)
	_, changed := d.list()
	g.Expect(d.setHealth("gpu-0", "Healthy")).To(Equal(false))
	_, err := d.setHealth("gpu-4", "Unhealthy")
	g.Expect(err).To(MatchError(errUnknownDevice))
	_, err = d.setHealth("gpu-0", "unhealthy")
	g.Expect(err).To(MatchError(errUnknownHealth))
	g.Expect(changed).NotTo(BeClosed())
	table, _ := d.list()
	g.Expect(d.setHealth("gpu-0", "Unhealthy")).To(Equal(true))
	g.Expect(changed).To(BeClosed())
	g.Expect(table[0]).To(HaveField("Health", "Healthy"), "a list is what was, not what is")
}
