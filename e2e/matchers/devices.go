package matchers

import (
	"strings"

	"gsb.test/jobset-e2e/e2e/internal/text"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// HoldDifferentDevices judges, by what each pod sees of its own, that every
// present pod holds exactly one device and that no two share one. Where only a
// client that does not read alone could see it, the judgement is left open.
func HoldDifferentDevices() Matcher[snapshot.Pods] {
	return func(p snapshot.Pods) *Mismatch {
		if r := MissingJobSet(p.Of); r != nil {
			return r
		}
		var unseen *Mismatch
		holder := map[string]string{}
		for i := range p.Items {
			pod := &p.Items[i]
			device, looked := p.Of.Snapshot.Devices[pod.Name]
			switch {
			case !looked:
				unseen = NewMismatch(DeviceNotVisible, snapshot.TextOf("JobSet %s 의 파드마다 어느 GPU 가 붙었는지는 클러스터의 파드 상태에 나오지 않아서 보지 않았습니다.",
					"Which GPU each pod of JobSet %s holds was not looked at: the pods' status in this cluster does not tell.", p.Of.Name)).
					Row("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", "not seen: "+text.Or(p.Of.Snapshot.DevicesUnseen[pod.Name], snapshot.PodState(pod)))
				unseen.Inconclusive = p.Of.Snapshot.ReadOnly || p.Of.Snapshot.DevicesUnseen[pod.Name] == snapshot.NoDeviceVariable
				if !unseen.Inconclusive {
					return unseen
				}
				continue
			case device == "":
				return NewMismatch(DeviceMissing, snapshot.TextOf("JobSet %s 의 파드 %s 에는 GPU 가 보이지 않는데, 파드마다 GPU 1장이어야 합니다.",
					"JobSet %s has a pod that sees no GPU, %s; the lab wants one GPU a pod.", p.Of.Name, pod.Name)).
					Row("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", "not set")
			case strings.Contains(device, ","):
				return NewMismatch(DeviceCountWrong, snapshot.TextOf("JobSet %s 의 파드 %s 에는 GPU 가 여러 장 붙었는데, 파드마다 GPU 1장이어야 합니다.",
					"JobSet %s has a pod that holds several GPUs, %s; the lab wants one GPU a pod.", p.Of.Name, pod.Name)).
					Row("NVIDIA_VISIBLE_DEVICES in "+pod.Name, "one device", device)
			case holder[device] != "":
				return NewMismatch(DeviceShared, snapshot.TextOf("JobSet %s 의 두 파드에 같은 GPU(%s)가 붙었는데, 파드마다 GPU 1장이어야 합니다.",
					"Two pods of JobSet %s hold the same GPU %s; the lab wants one GPU a pod.", p.Of.Name, device)).
					Row(holder[device], "a device of its own", device).Row(pod.Name, "a device of its own", device)
			}
			holder[device] = pod.Name
		}
		return unseen
	}
}
