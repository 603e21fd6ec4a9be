package lab

import (
	"strings"
)

// HoldDifferentDevices judges, by what each pod sees of its own, that every
// present pod holds exactly one device and that no two share one. Where only a
// client that does not read alone could see it, the judgement is left open.
func HoldDifferentDevices() Matcher[Pods] {
	return func(p Pods) *Refusal {
		if r := p.of.absent(); r != nil {
			return r
		}
		var unseen *Refusal
		holder := map[string]string{}
		for i := range p.items {
			pod := &p.items[i]
			device, looked := p.of.snapshot.Devices[pod.Name]
			switch {
			case !looked:
				unseen = refuse(DeviceNotVisible, tell("JobSet %s 의 파드마다 어느 GPU 가 붙었는지는 클러스터의 파드 상태에 나오지 않아서 보지 않았습니다.",
					"Which GPU each pod of JobSet %s holds was not looked at: the pods' status in this cluster does not tell.", p.of.Name)).
					with("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", "not seen: "+or(p.of.snapshot.DevicesUnseen[pod.Name], podState(pod)))
				if unseen.Open = p.of.snapshot.ReadOnly; !unseen.Open {
					return unseen
				}
				continue
			case device == "":
				return refuse(DeviceMissing, tell("JobSet %s 의 파드 %s 에는 GPU 가 보이지 않는데, 파드마다 GPU 1장이어야 합니다.",
					"JobSet %s has a pod that sees no GPU, %s; the lab wants one GPU a pod.", p.of.Name, pod.Name)).
					with("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", "not set")
			case strings.Contains(device, ","):
				return refuse(DeviceCountWrong, tell("JobSet %s 의 파드 %s 에는 GPU 가 여러 장 붙었는데, 파드마다 GPU 1장이어야 합니다.",
					"JobSet %s has a pod that holds several GPUs, %s; the lab wants one GPU a pod.", p.of.Name, pod.Name)).
					with("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", device)
			case holder[device] != "":
				return refuse(DeviceShared, tell("JobSet %s 의 두 파드에 같은 GPU(%s)가 붙었는데, 파드마다 GPU 1장이어야 합니다.",
					"Two pods of JobSet %s hold the same GPU %s; the lab wants one GPU a pod.", p.of.Name, device)).
					with(holder[device], "a device of its own", device).with(pod.Name, "a device of its own", device)
			}
			holder[device] = pod.Name
		}
		return unseen
	}
}
