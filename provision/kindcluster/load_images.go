package kindcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"sigs.k8s.io/kind/pkg/cluster/nodeutils"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision/images"
)

// VerifyVersions checks that the node runs the Kubernetes of the set, because an image
// tag is not proof of its content.
func (k *Cluster) VerifyVersions(ctx context.Context, set images.Set) error {
	output, err := k.Exec(ctx, "cat", "/kind/version")
	if err != nil {
		return fmt.Errorf("asking the node for its version: %w", err)
	}
	found := fixtures.Versions{Kubernetes: output}
	if others := found.Differ(fixtures.Versions{Kubernetes: set.Kubernetes}); len(others) > 0 {
		return fmt.Errorf("the node image holds Kubernetes %s, but its name says %s", output, strings.Join(others, ""))
	}
	return nil
}

// LoadImages imports into the node's containerd the images of the set that it does not
// have. It returns how many, after all are there by digest. Nothing in the lab is
// pulled later.
func (k *Cluster) LoadImages(ctx context.Context, set images.Set) (int, error) {
	missing, err := k.missingImages(ctx, set.Contents)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	k.Say(fmt.Sprintf("loading %d images into the node", len(missing)))
	nodes, err := k.provider().ListInternalNodes(k.Name)
	if err != nil || len(nodes) != 1 {
		return 0, fmt.Errorf("looking for the node of %s: %w", k.Name, withOutput(err))
	}
	archive, err := os.Open(set.Images)
	if err != nil {
		return 0, fmt.Errorf("loading images into the node: %w", err)
	}
	defer archive.Close()
	if err := nodeutils.LoadImageArchive(nodes[0], untilDone(ctx, archive)); err != nil {
		return 0, errors.Join(ctx.Err(), fmt.Errorf("loading images into the node: %w", withOutput(err)))
	}
	still, err := k.missingImages(ctx, set.Contents)
	if err != nil {
		return 0, err
	}
	if len(still) > 0 {
		return 0, fmt.Errorf("the node has taken the images, but not as they were pulled: %s", strings.Join(still, "; "))
	}
	return len(missing), nil
}

// missingImages lists the images that the node's containerd does not have by name and
// digest.
func (k *Cluster) missingImages(ctx context.Context, wanted []images.Image) ([]string, error) {
	if len(wanted) == 0 {
		return nil, nil
	}
	output, err := k.Exec(ctx, "ctr", "--namespace=k8s.io", "images", "ls")
	if err != nil {
		return nil, fmt.Errorf("asking the node for its images: %w", err)
	}
	return missingFrom(output, wanted), nil
}

// missingFrom reads the table of ctr images ls: name, media type, digest.
func missingFrom(table string, wanted []images.Image) []string {
	has := map[string]string{}
	for line := range strings.Lines(table) {
		if fields := strings.Fields(line); len(fields) > 2 {
			has[fields[0]] = fields[2]
		}
	}
	var lacking []string
	for _, image := range wanted {
		switch found := has[image.Ref]; found {
		case image.Digest:
		case "":
			lacking = append(lacking, image.Ref+" is not there")
		default:
			lacking = append(lacking, fmt.Sprintf("%s is %s, not %s", image.Ref, found, image.Digest))
		}
	}
	return lacking
}

// readerFunc is a reader made of a function.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(buffer []byte) (int, error) { return f(buffer) }

// untilDone is a reader that ends with ctx: kind's import takes no context.
func untilDone(ctx context.Context, from io.Reader) io.Reader {
	return readerFunc(func(buffer []byte) (int, error) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		return from.Read(buffer)
	})
}
