package source

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"gsb.test/jobset-e2e/provision/poll"
)

// importImages fills a containerd's folder with the images of an archive. It runs the
// containerd and ctr of the node in temporary folders.
func importImages(ctx context.Context, p parts, dir, archive string) error {
	work, err := os.MkdirTemp("", "lab-containerd-") // short: a socket's path may have 107 bytes
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	socket := filepath.Join(work, "c.sock")
	config := filepath.Join(work, "config.toml")
	text := fmt.Sprintf("version = 3\nroot = %q\nstate = %q\ndisabled_plugins = [\"io.containerd.cri.v1.images\", \"io.containerd.cri.v1.runtime\", \"io.containerd.grpc.v1.cri\"]\n[grpc]\naddress = %q\n",
		dir, filepath.Join(work, "state"), socket)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- run(serving, "", nil, filepath.Join(p.programs, "containerd"), "--config", config) }()
	defer func() {
		stop()
		_ = <-ended
	}()
	if err := poll.For(ctx, "containerd to listen", func(context.Context) error {
		select {
		case why := <-ended:
			ended <- why // for the deferred wait
			return fmt.Errorf("containerd ended: %w", why)
		default:
		}
		if _, err := os.Stat(socket); err != nil {
			return poll.Pendingf("%v", err)
		}
		return nil
	}); err != nil {
		return fmt.Errorf("importing images: %w", err)
	}
	if err := run(ctx, "", nil, filepath.Join(p.programs, "ctr"), "--connect-timeout", "60s", "--address", socket,
		"--namespace", "k8s.io", "images", "import", "--no-unpack", archive); err != nil {
		return fmt.Errorf("importing images: %w", err)
	}
	return nil
}
