package cluster

import "testing"

func TestWhatAKubeletAnswersIsRead(t *testing.T) {
	t.Parallel()
	const configuration = `{"kubeletconfig":{"nodeStatusMaxImages":-1,"imageGCHighThresholdPercent":85,"imageMaximumGCAge":"0s","evictionHard":{"imagefs.available":"5%","nodefs.available":"1Gi"}}}`
	const summary = `{"node":{"fs":{"availableBytes":60,"capacityBytes":100},"runtime":{"imageFs":{"availableBytes":20,"capacityBytes":100}}}}`
	kubelet, err := readKubelet([]byte(configuration), []byte(summary))
	if err != nil {
		t.Fatal(err)
	}
	if kubelet.ImagesReported != -1 || kubelet.CollectFrom != 85 || kubelet.Disks[0].Used() != 80 || kubelet.Disks[0].EvictFrom() != 95 || kubelet.Disks[1].Used() != 40 || kubelet.Disks[1].Evict != "1Gi" {
		t.Errorf("%+v", kubelet)
	}
	shared, err := readKubelet([]byte(configuration), []byte(`{"node":{"fs":{"availableBytes":60,"capacityBytes":100}}}`))
	if err != nil || shared.Disks[0].Used() != 40 {
		t.Errorf("images on the node's own disk: %+v, %v", shared, err)
	}
	for _, wrong := range [][2]string{{"<html>", summary}, {"{}", summary}, {configuration, "{}"}} {
		if _, err := readKubelet([]byte(wrong[0]), []byte(wrong[1])); err == nil {
			t.Errorf("%s and %s were read", wrong[0], wrong[1])
		}
	}
}
