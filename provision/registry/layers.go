package registry

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/sync/errgroup"
)

// atOnce is how many layers of an image are pulled in parallel.
const atOnce = 3

// layers pulls an image's layers and returns the image on disk.
func (c *Client) layers(ctx context.Context, tripper http.RoundTripper, from name.Repository, a request, image v1.Image) (v1.Image, error) {
	manifest, err := image.Manifest()
	if err != nil {
		return nil, err
	}
	local := &onDisk{image: image, client: c, sizes: map[v1.Hash]v1.Descriptor{}}
	if local.media, err = image.MediaType(); err != nil {
		return nil, err
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, layer := range manifest.Layers {
		if _, twice := local.sizes[layer.Digest]; twice {
			continue
		}
		local.sizes[layer.Digest] = layer
		c.progress.expect(layer.Size)
	}
	for _, layer := range local.sizes {
		group.Go(func() error {
			return c.retry(groupCtx, a, func() error { return c.layer(groupCtx, tripper, from, a, layer) })
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return partial.CompressedToImage(local)
}

// layer pulls one layer and continues an interrupted pull.
func (c *Client) layer(ctx context.Context, tripper http.RoundTripper, from name.Repository, a request, layer v1.Descriptor) (err error) {
	whole := c.pulled(layer.Digest)
	if info, err := os.Stat(whole); err == nil && info.Size() == layer.Size {
		// From an earlier run: it is read once more, because a disk may have lost part of it.
		if holds(whole, layer.Digest) {
			c.progress.got(layer.Digest, layer.Size)
			return nil
		}
		if err := os.Remove(whole); err != nil {
			return err
		}
	}
	half, err := os.OpenFile(whole+".half", os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, half.Close()) }()
	info, err := half.Stat()
	if err != nil {
		return err
	}
	sum := sha256.New()
	have, err := io.CopyN(sum, half, info.Size())
	if err != nil {
		return err
	}
	resumed := have > 0
	if have < layer.Size {
		body, from, err := c.ask(ctx, tripper, from, layer, have)
		if err != nil {
			return err
		}
		defer body.Close()
		if from == 0 && resumed { // it begins anew, whatever was asked
			sum.Reset()
			have, resumed = 0, false
			if _, err := half.Seek(0, io.SeekStart); err != nil {
				return err
			}
			if err := half.Truncate(0); err != nil {
				return err
			}
		}
		counted := c.progress.counting(layer.Digest, have, io.LimitReader(body, layer.Size-have+1))
		got, err := io.Copy(io.MultiWriter(half, sum), counted)
		if err != nil {
			return err
		}
		if have += got; have < layer.Size {
			return transientError{fmt.Errorf("the connection ended after %d of %d bytes", have, layer.Size)}
		}
	}
	if found := "sha256:" + hex.EncodeToString(sum.Sum(nil)); found != layer.Digest.String() {
		if err := os.Remove(half.Name()); err != nil {
			return err
		}
		if resumed { // what lay there may have been damaged, and what came be good
			return transientError{errors.New("what an earlier pull left of a layer was damaged")}
		}
		return a.mismatch(layer.Digest.String(), found)
	}
	return os.Rename(half.Name(), whole)
}

// holds reports whether a file has a digest.
func holds(path string, digest v1.Hash) bool {
	in, err := os.Open(path)
	if err != nil {
		return false
	}
	defer in.Close()
	found, _, err := v1.SHA256(in)
	return err == nil && found == digest
}

// ask requests the missing part of a layer and returns it with its offset.
func (c *Client) ask(ctx context.Context, tripper http.RoundTripper, from name.Repository, layer v1.Descriptor, have int64) (io.ReadCloser, int64, error) {
	address := url.URL{Scheme: from.Scheme(), Host: from.RegistryStr(), Path: "/v2/" + from.RepositoryStr() + "/blobs/" + layer.Digest.String()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return nil, 0, err
	}
	if have > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", have, layer.Size-1))
	}
	answer, err := (&http.Client{Transport: tripper}).Do(request)
	if err != nil {
		return nil, 0, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return answer.Body, 0, nil
	case http.StatusPartialContent:
		return answer.Body, have, nil
	}
	answer.Body.Close()
	return nil, 0, status(answer.StatusCode)
}

// mismatch is an error: what was received is not what was pinned or announced.
func (a request) mismatch(wanted, found string) error {
	return &userError{fmt.Sprintf("%s gave another %s than was wanted: %s, not %s", a.host, a.what, found, wanted),
		suspectTampering, nil}
}

// orMismatch turns the library's refusal of a manifest with another digest into a
// mismatch.
func (a request) orMismatch(at name.Reference, err error) error {
	if _, found, mismatch := strings.Cut(err.Error(), `manifest digest: "`); mismatch {
		found, _, _ = strings.Cut(found, `"`)
		return a.mismatch(at.Identifier(), found)
	}
	return err
}

// orOtherPlatform is an error if an image is not for this machine.
func (a request) orOtherPlatform(err error) error {
	if strings.Contains(err.Error(), "no child with platform") {
		return &userError{fmt.Sprintf("%s has %s, but not for this machine: %v", a.host, a.what, err),
			"name a mirror that has it whole, LAB_MIRROR, or use a machine of another architecture", err}
	}
	return err
}

// onDisk is a pulled image: manifest and configuration in memory, layers in files.
type onDisk struct {
	image  v1.Image
	client *Client
	media  types.MediaType
	sizes  map[v1.Hash]v1.Descriptor
}

func (i *onDisk) RawConfigFile() ([]byte, error)      { return i.image.RawConfigFile() }
func (i *onDisk) RawManifest() ([]byte, error)        { return i.image.RawManifest() }
func (i *onDisk) MediaType() (types.MediaType, error) { return i.media, nil }
func (i *onDisk) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	layer, ok := i.sizes[h]
	if !ok {
		return nil, fmt.Errorf("the image has no layer %s", h)
	}
	return layerOnDisk{layer, i.client.pulled(h)}, nil
}

type layerOnDisk struct {
	v1.Descriptor
	path string
}

func (l layerOnDisk) Digest() (v1.Hash, error)            { return l.Descriptor.Digest, nil }
func (l layerOnDisk) Size() (int64, error)                { return l.Descriptor.Size, nil }
func (l layerOnDisk) MediaType() (types.MediaType, error) { return l.Descriptor.MediaType, nil }
func (l layerOnDisk) Compressed() (io.ReadCloser, error)  { return os.Open(l.path) }
