package lab

import (
	"strings"

	"github.com/onsi/gomega/types"
)

// HoldDifferentDevices judges, by what each pod sees of its own, that every
// present pod holds exactly one device and that no two share one.
func HoldDifferentDevices() types.GomegaMatcher {
	return judgement(func(p Pods) *Refusal {
		if r := p.of.absent(); r != nil {
			return r
		}
		holder := map[string]string{}
		for i := range p.items {
			pod := &p.items[i]
			device, looked := p.of.snapshot.Devices[pod.Name]
			switch {
			case !looked:
				return refuse("Nobody could see which device pod %s of JobSet %s holds.", pod.Name, p.of.Name).
					with("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", "not seen: "+or(p.of.snapshot.DevicesUnseen[pod.Name], podState(pod)))
			case device == "":
				return refuse("Pod %s of JobSet %s sees no device.", pod.Name, p.of.Name).
					with("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", "not set")
			case strings.Contains(device, ","):
				return refuse("Pod %s of JobSet %s holds more than one device.", pod.Name, p.of.Name).
					with("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", device)
			case holder[device] != "":
				return refuse("Two pods of JobSet %s hold the same device %s.", p.of.Name, device).
					with(holder[device], "a device of its own", device).with(pod.Name, "a device of its own", device)
			}
			holder[device] = pod.Name
		}
		return nil
	})
}
