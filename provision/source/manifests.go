package source

import (
	"fmt"
	"io/fs"
	"os"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"gsb.test/jobset-e2e/provision/manifest"
)

const (
	// overlay is the kustomization that a release of JobSet or Kueue is made from,
	// below the module's folder.
	overlay = "config/default"
	// managerContainer is the controller manager's in both.
	managerContainer = "manager"
)

// RenderJobSet returns JobSet's manifests as YAML documents, rendered from the module
// itself. moduleDir is that of sigs.k8s.io/jobset in the module cache, so the manifests
// have the version that is pinned and checked; image is the manager's in the node.
func RenderJobSet(moduleDir, image string) ([]byte, error) {
	return render("jobset", moduleDir, image)
}

// RenderKueue is RenderJobSet for sigs.k8s.io/kueue.
func RenderKueue(moduleDir, image string) ([]byte, error) {
	return render("kueue", moduleDir, image)
}

func render(name, moduleDir, image string) ([]byte, error) {
	objects, err := released(name, moduleDir, image)
	if err != nil {
		return nil, err
	}
	if err := ResizeForSingleNode(objects); err != nil {
		return nil, fmt.Errorf("the manifests of sigs.k8s.io/%s: %w", name, err)
	}
	return manifest.Documents(objects)
}

// released are the objects of a release, as released.
func released(name, moduleDir, image string) ([]*unstructured.Unstructured, error) {
	objects, err := kustomize(moduleDir)
	if err != nil {
		return nil, fmt.Errorf("rendering the manifests of sigs.k8s.io/%s from %s: %w", name, moduleDir, err)
	}
	deployment := name + "-controller-manager"
	if err := setImage(objects, deployment, managerContainer, image); err != nil {
		return nil, fmt.Errorf("the manifests in %s are not those of sigs.k8s.io/%s: %w", moduleDir, name, err)
	}
	return objects, nil
}

// kustomize renders a module's overlay in a copy in memory: the module cache is
// read-only, and kustomize fixes deprecated fields in the copy, about which it would
// otherwise warn at every render.
func kustomize(moduleDir string) ([]*unstructured.Unstructured, error) {
	module := os.DirFS(moduleDir)
	if _, err := fs.Stat(module, overlay+"/kustomization.yaml"); err != nil {
		return nil, fmt.Errorf("this is not the folder of such a module (go mod download -json prints it as Dir): %w", err)
	}
	memory := filesys.MakeFsInMemory()
	err := fs.WalkDir(module, "config", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(module, path)
		if err != nil {
			return err
		}
		if entry.Name() == "kustomization.yaml" {
			if content, err = modernize(content); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		return memory.WriteFile("/"+path, content)
	})
	if err != nil {
		return nil, err
	}
	rendered, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(memory, "/"+overlay)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	for _, resource := range rendered.Resources() {
		content, err := resource.MarshalJSON()
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", resource.CurId(), err)
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(content); err != nil {
			return nil, fmt.Errorf("reading %s: %w", resource.CurId(), err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// modernize replaces the deprecated fields of a kustomization.
func modernize(content []byte) ([]byte, error) {
	var kustomization types.Kustomization
	if err := kustomization.Unmarshal(content); err != nil {
		return nil, err
	}
	if len(*kustomization.CheckDeprecatedFields()) == 0 {
		return content, nil
	}
	kustomization.FixKustomization()
	// The fix looks into the file system only for patches named by path in a
	// field that neither module uses; an empty one makes such a case fail aloud.
	if err := kustomization.FixKustomizationPreMarshalling(filesys.MakeFsInMemory()); err != nil {
		return nil, err
	}
	return yaml.Marshal(kustomization)
}

// setImage sets the image of one container of a Deployment by the container's name:
// each module names the image differently.
func setImage(objects []*unstructured.Unstructured, deployment, container, image string) error {
	found := false
	for _, object := range objects {
		if object.GetKind() != "Deployment" || object.GetName() != deployment {
			continue
		}
		err := eachContainer(object, func(c *corev1.Container) {
			if c.Name == container {
				c.Image, found = image, true
			}
		})
		if err != nil {
			return err
		}
	}
	if !found {
		return fmt.Errorf("no Deployment %s with a container %s", deployment, container)
	}
	return nil
}

// leastCPU is the CPU request of a container on the lab's node. JobSet and Kueue
// request half a core each, for clusters with thousands of jobs. With the control
// plane that would leave nothing for a learner on two cores.
var leastCPU = resource.MustParse("100m")

// ResizeForSingleNode makes the Deployments of a release fit the lab's one small
// node. It changes resources and waiting, and not what the controllers do:
//   - the images are in the node already, so they are pulled only if absent;
//   - a container requests no more than a tenth of a core, and keeps its limits;
//   - readiness is probed every second from the start, instead of every ten after
//     five, for as many failures as make up the time that was allowed before;
//   - no leader is elected: there is one manager, and after a restart of the node it
//     would wait for the end of its own lease. Two must not work in parallel, so an
//     update stops the old one before it starts the new one.
func ResizeForSingleNode(objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment":
			if err := eachContainer(object, fitContainer); err != nil {
				return err
			}
			if err := unstructured.SetNestedMap(object.Object, map[string]any{"type": string(appsv1.RecreateDeploymentStrategyType)}, "spec", "strategy"); err != nil {
				return fmt.Errorf("Deployment %s: %w", object.GetName(), err)
			}
		case "ConfigMap":
			if err := withoutElection(object); err != nil {
				return fmt.Errorf("ConfigMap %s: %w", object.GetName(), err)
			}
		}
	}
	return nil
}

// withoutElection changes the text of a manager's configuration, whose comments stay.
func withoutElection(config *unstructured.Unstructured) error {
	data, _, err := unstructured.NestedStringMap(config.Object, "data")
	if err != nil || data == nil {
		return err
	}
	for key, text := range data {
		data[key] = strings.ReplaceAll(text, "leaderElect: true", "leaderElect: false")
	}
	return unstructured.SetNestedStringMap(config.Object, data, "data")
}

func fitContainer(container *corev1.Container) {
	container.ImagePullPolicy = corev1.PullIfNotPresent
	if asked, ok := container.Resources.Requests[corev1.ResourceCPU]; ok && asked.Cmp(leastCPU) > 0 {
		container.Resources.Requests[corev1.ResourceCPU] = leastCPU.DeepCopy()
	}
	probe := container.ReadinessProbe
	if probe == nil {
		return
	}
	// Zero means the API's defaults: a probe every ten seconds, three failures.
	period, failures := probe.PeriodSeconds, probe.FailureThreshold
	if period == 0 {
		period = 10
	}
	if failures == 0 {
		failures = 3
	}
	probe.InitialDelaySeconds, probe.PeriodSeconds = 0, 1
	probe.FailureThreshold = failures * period
}

// eachContainer lets change work on every container of a Deployment.
func eachContainer(object *unstructured.Unstructured, change func(*corev1.Container)) error {
	var deployment appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &deployment); err != nil {
		return fmt.Errorf("reading Deployment %s: %w", object.GetName(), err)
	}
	spec := &deployment.Spec.Template.Spec
	for i := range spec.InitContainers {
		change(&spec.InitContainers[i])
	}
	for i := range spec.Containers {
		change(&spec.Containers[i])
	}
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&deployment.Spec.Template)
	if err != nil {
		return fmt.Errorf("writing Deployment %s: %w", object.GetName(), err)
	}
	return unstructured.SetNestedMap(object.Object, template, "spec", "template")
}
