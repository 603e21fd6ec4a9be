package registry

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"gsb.test/jobset-e2e/provision/manifest"
	"gsb.test/jobset-e2e/provision/source"
)

// manifest fetches a release's manifests and resizes them for one node. It returns the
// documents, their images, and the sha256 of the download.
func (c *Client) manifest(ctx context.Context, r Release, digest string) (documents []byte, images []string, sum string, err error) {
	content, err := c.Fetch(ctx, r.Manifest)
	if err != nil {
		return nil, nil, "", err
	}
	sum = fmt.Sprintf("sha256:%x", sha256.Sum256(content))
	if digest != "" && sum != digest {
		return nil, nil, "", request{r.Manifest, "what answers there"}.mismatch(digest, sum)
	}
	objects, err := manifest.Parse(content)
	if err == nil {
		images, err = imagesIn(objects)
	}
	if err == nil {
		err = isOf(images, r)
	}
	if err == nil {
		err = source.ResizeForSingleNode(objects)
	}
	if err == nil {
		documents, err = manifest.Documents(objects)
	}
	var other *unexpected
	if errors.As(err, &other) {
		return nil, nil, "", &userError{fmt.Sprintf("%s: %v", r.Manifest, err),
			"if that is right, name it: a manager's image as images.jobset or images.kueue in the file that LAB_MIRROR names,\n   or as image in provision/registry/sources.yaml, and any other image as also there", err}
	}
	if err != nil {
		return nil, nil, "", &userError{fmt.Sprintf("%s is not the manifest of that release: %v", r.Manifest, err),
			"a proxy or a mirror may have given a page of its own; " + Elsewhere, err}
	}
	return documents, images, sum, nil
}

// imagesIn lists the images that the workloads name, fully qualified, each once.
func imagesIn(objects []*unstructured.Unstructured) ([]string, error) {
	var found []string
	for _, object := range objects {
		for _, field := range []string{"initContainers", "containers"} {
			containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", field)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
			}
			for _, container := range containers {
				fields, _ := container.(map[string]any)
				image, _, err := unstructured.NestedString(fields, "image")
				if err != nil || image == "" {
					return nil, errors.Join(fmt.Errorf("%s %s has a container without an image", object.GetKind(), object.GetName()), err)
				}
				ref, err := name.ParseReference(image, name.WithDefaultRegistry("docker.io"))
				if err != nil {
					return nil, fmt.Errorf("%s %s: %w", object.GetKind(), object.GetName(), err)
				}
				if full := hostOf(ref) + "/" + ref.Context().RepositoryStr() + ":" + ref.Identifier(); full != image && !strings.Contains(image, "@") {
					return nil, fmt.Errorf("%s %s names the image %q, which is not a full name with a tag", object.GetKind(), object.GetName(), image)
				}
				if !slices.Contains(found, image) {
					found = append(found, image)
				}
			}
		}
	}
	return found, nil
}

// unexpected is an image in a manifest that should not be there.
type unexpected struct{ found, wanted string }

func (u *unexpected) Error() string {
	return fmt.Sprintf("it names the image %s, where %s was expected", u.found, u.wanted)
}

// isOf is an error if the manager's image is not in the list with the release's
// version, or if an unknown image is: the version is judged by the tag, and an image
// of another host may disappear.
func isOf(images []string, r Release) error {
	wanted, there := r.manager(), false
	var others []string
	for _, image := range images {
		tagged, _, _ := strings.Cut(image, "@")
		switch {
		case tagged == wanted:
			there = true
		case !slices.Contains(r.Also, image):
			others = append(others, image)
		}
	}
	switch {
	case len(others) > 0 && there:
		return &unexpected{strings.Join(others, ", "), "none but " + strings.Join(append([]string{wanted}, r.Also...), ", ")}
	case len(others) > 0:
		return &unexpected{strings.Join(others, ", "), wanted}
	case !there:
		return fmt.Errorf("it does not run %s, but %q", wanted, images)
	}
	return nil
}
