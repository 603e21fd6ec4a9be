package main

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// visibleDevices is the variable by which NVIDIA's container runtime is told
// the devices of a container. Here it is how a container, or a test, learns
// which fake GPUs it was given.
const visibleDevices = "NVIDIA_VISIBLE_DEVICES"

// service answers kubelet. The calls it does not have, GetPreferredAllocation
// and PreStartContainer, are those its options say it does not offer.
type service struct {
	pluginapi.UnimplementedDevicePluginServer
	resource string
	devices  *devices
	tie      *registration
}

func (s *service) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return options(), nil
}

func options() *pluginapi.DevicePluginOptions {
	return &pluginapi.DevicePluginOptions{PreStartRequired: false, GetPreferredAllocationAvailable: false}
}

// ListAndWatch sends the devices at once and again after every change, for as
// long as kubelet stays on the line.
func (s *service) ListAndWatch(_ *pluginapi.Empty, stream grpc.ServerStreamingServer[pluginapi.ListAndWatchResponse]) error {
	s.tie.streamOpened()
	defer s.tie.streamClosed()
	for {
		table, changed := s.devices.list()
		response := &pluginapi.ListAndWatchResponse{}
		for _, d := range table {
			response.Devices = append(response.Devices, &pluginapi.Device{ID: d.ID, Health: d.Health})
		}
		if err := stream.Send(response); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-stream.Context().Done():
			return status.FromContextError(stream.Context().Err()).Err()
		}
	}
}

// Allocate names each container's devices in its environment, in the order of
// the table whatever the order of the request. It fails with NotFound for an
// unknown device, FailedPrecondition for an unhealthy one and InvalidArgument
// for one asked for twice or for a container that asks for none; kubelet shows
// that text in the pod's UnexpectedAdmissionError.
func (s *service) Allocate(_ context.Context, request *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	table, _ := s.devices.list()
	asked := map[string]bool{}
	response := &pluginapi.AllocateResponse{}
	for _, container := range request.GetContainerRequests() {
		if len(container.GetDevicesIds()) == 0 {
			return nil, status.Errorf(codes.InvalidArgument, "a container asks for no %s at all: name at least one device", s.resource)
		}
		own := map[string]bool{}
		for _, id := range container.GetDevicesIds() {
			if err := s.allocatable(table, id); err != nil {
				return nil, err
			}
			if asked[id] {
				return nil, status.Errorf(codes.InvalidArgument, "%s device %s is asked for twice: a device serves one container", s.resource, id)
			}
			asked[id], own[id] = true, true
		}
		var visible []string
		for _, d := range table {
			if own[d.ID] {
				visible = append(visible, d.ID)
			}
		}
		response.ContainerResponses = append(response.ContainerResponses, &pluginapi.ContainerAllocateResponse{
			Envs: map[string]string{visibleDevices: strings.Join(visible, ",")},
		})
	}
	return response, nil
}

func (s *service) allocatable(table []device, id string) error {
	for _, d := range table {
		switch {
		case d.ID != id:
		case d.Health != pluginapi.Healthy:
			return status.Errorf(codes.FailedPrecondition, "%s device %s is %s: it can be given to no container", s.resource, id, d.Health)
		default:
			return nil
		}
	}
	return status.Errorf(codes.NotFound, "%s has no device %q: this node has %s", s.resource, id, names(table))
}
