package faults

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// await waits until a part of an object reads as it should. An object that is
// not there reads as nothing.
func (i *Injection) await(ctx context.Context, a Await) error {
	return i.until(ctx, fmt.Sprintf("%s of %s to %s", a.Path, a.Object, a.wanted()), func(ctx context.Context) (string, error) {
		object, err := i.read(ctx, a.Object)
		if err != nil {
			return "", err
		}
		reads, err := evaluate(a.Path, object)
		if err != nil || a.met(reads) {
			return "", err
		}
		return fmt.Sprintf("it reads %.200q", reads), nil
	})
}

func (a Await) wanted() string {
	switch {
	case a.Is != nil:
		return fmt.Sprintf("read %q", *a.Is)
	case a.Has != "":
		return fmt.Sprintf("contain %q", a.Has)
	}
	return fmt.Sprintf("lack %q", a.Lacks)
}

func (a Await) met(reads string) bool {
	switch {
	case a.Is != nil:
		return reads == *a.Is
	case a.Has != "":
		return strings.Contains(reads, a.Has)
	}
	return !strings.Contains(reads, a.Lacks)
}

// evaluate reads a JSONPath template of an object; a part that is not there
// reads as nothing.
func evaluate(path string, object *unstructured.Unstructured) (string, error) {
	if object == nil {
		return "", nil
	}
	template := jsonpath.New("path").AllowMissingKeys(true)
	if err := template.Parse(path); err != nil {
		return "", fmt.Errorf("%s is no JSONPath template: %w", path, err)
	}
	var out bytes.Buffer
	if err := template.Execute(&out, object.Object); err != nil {
		return "", fmt.Errorf("reading %s: %w", path, err)
	}
	return out.String(), nil
}

// waitForRollout waits, after a change of what makes pods, until every pod is of the
// present template and none of an older one is left: until then the lab answers
// now as before and now as after.
func (i *Injection) waitForRollout(ctx context.Context, object *unstructured.Unstructured) error {
	if kind := object.GetKind(); kind != "Deployment" && kind != "DaemonSet" {
		return nil
	}
	what := Object{APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName()}
	return i.until(ctx, "the pods of "+what.String(), func(ctx context.Context) (string, error) {
		live, err := i.read(ctx, what)
		if err != nil || live == nil {
			return "", err
		}
		wanted, says := rolledOut(live)
		if says != "" {
			return says, nil
		}
		pods, err := i.podsOf(ctx, live)
		if err == nil && int64(pods) != wanted {
			says = fmt.Sprintf("%d pods are there, %d are wanted", pods, wanted)
		}
		return says, err
	})
}

// rolledOut returns how many pods a Deployment or DaemonSet wants, and why they
// are not there yet.
func rolledOut(live *unstructured.Unstructured) (wanted int64, says string) {
	number := func(fields ...string) int64 {
		value, _, _ := unstructured.NestedInt64(live.Object, fields...)
		return value
	}
	ready, updated := number("status", "availableReplicas"), number("status", "updatedReplicas")
	wanted = number("spec", "replicas")
	if live.GetKind() == "DaemonSet" {
		wanted = number("status", "desiredNumberScheduled")
		ready, updated = number("status", "numberAvailable"), number("status", "updatedNumberScheduled")
	}
	if number("status", "observedGeneration") < live.GetGeneration() || ready != wanted || updated != wanted {
		return wanted, fmt.Sprintf("%d of %d are updated, %d available", updated, wanted, ready)
	}
	return wanted, ""
}

func (i *Injection) podsOf(ctx context.Context, live *unstructured.Unstructured) (int, error) {
	fields, _, err := unstructured.NestedMap(live.Object, "spec", "selector")
	if err != nil {
		return 0, fmt.Errorf("the selector of %s: %w", live.GetName(), err)
	}
	var selector metav1.LabelSelector
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &selector); err != nil {
		return 0, fmt.Errorf("the selector of %s: %w", live.GetName(), err)
	}
	labels, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil {
		return 0, fmt.Errorf("the selector of %s: %w", live.GetName(), err)
	}
	var pods corev1.PodList
	err = i.client.List(ctx, &pods, client.InNamespace(live.GetNamespace()), client.MatchingLabelsSelector{Selector: labels})
	if err != nil {
		return 0, fmt.Errorf("listing the pods of %s: %w", live.GetName(), err)
	}
	return len(pods.Items), nil
}
