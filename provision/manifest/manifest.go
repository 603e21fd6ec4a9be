// Package manifest reads and writes files of Kubernetes objects, as YAML documents.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Parse reads YAML documents and skips empty ones. A document that is no Kubernetes object
// is an error, and so is a manifest without objects.
func Parse(content []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
	for number := 1; ; number++ {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		switch {
		case errors.Is(err, io.EOF) && len(objects) == 0:
			return nil, errors.New("it holds no object")
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, fmt.Errorf("document %d is not YAML of an object: %w", number, err)
		case len(object.Object) == 0:
		case object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "":
			return nil, fmt.Errorf("document %d has not all of apiVersion, kind and metadata.name", number)
		default:
			objects = append(objects, object)
		}
	}
}

// Documents writes objects as YAML documents.
func Documents(objects []*unstructured.Unstructured) ([]byte, error) {
	var documents bytes.Buffer
	for _, object := range objects {
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("writing %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		documents.WriteString("---\n")
		documents.Write(document)
	}
	return documents.Bytes(), nil
}
