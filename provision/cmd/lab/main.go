// Command lab makes the lab, removes it, and tells what this machine can do.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision"
)

// version is what --version prints; a container engine is tried by running this
// program in a container and comparing.
const version = "lab 1"

func main() {
	provision.Main("lab", func(ctx context.Context, unfinished *provision.Unfinished) error {
		return command(unfinished).ExecuteContext(ctx)
	})
}

func command(unfinished *provision.Unfinished) *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "Makes the JobSet lab on this machine, and removes it",
		Long: "Makes the JobSet lab on this machine, and removes it.\n\n" +
			"Environment:\n" +
			"  LAB_NAME    the lab's name (" + provision.DefaultName + "): two labs of two names stand side by side\n" +
			"  LAB_ENGINE  docker or podman; without it the first that works\n" +
			"  LAB_IMAGES  registry, source, or auto: registry where all answer, else source\n" +
			"  LAB_MIRROR  an address that stands in for every registry, or a file that says more\n" +
			"  LAB_KEEP=1  leave the lab standing, after a failure too",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	lab := func(do func(*provision.Lab, context.Context) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, _ []string) error {
			pins, err := fixtures.ReadPins()
			if err != nil {
				return err
			}
			l, err := provision.New(pins, os.Getenv("LAB_NAME"))
			if err != nil {
				return err
			}
			l.Keep, l.Unfinished = os.Getenv("LAB_KEEP") == "1", unfinished
			return do(l, c.Context())
		}
	}
	with := &cobra.Command{Use: "with COMMAND [ARG ...]", Short: "Make the lab, run a command with LAB_KUBECONFIG set, remove the lab",
		Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab(func(l *provision.Lab, ctx context.Context) error { return l.With(ctx, args) })(c, args)
		}}
	beside := &cobra.Command{Use: "beside COMMAND [ARG ...]", Short: "Run a command that makes a cluster of its own with the lab's engine and node image",
		Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab(func(l *provision.Lab, ctx context.Context) error { return l.WithEngine(ctx, args) })(c, args)
		}}
	for _, runs := range []*cobra.Command{with, beside} {
		runs.Flags().SetInterspersed(false) // the command's flags are the command's
	}
	root.AddCommand(
		&cobra.Command{Use: "up", Short: "Make the lab; a lab that stands is checked and mended", Args: cobra.NoArgs,
			RunE: lab((*provision.Lab).Up)},
		&cobra.Command{Use: "down", Short: "Remove the lab and everything made for it", Args: cobra.NoArgs,
			RunE: lab((*provision.Lab).Down)},
		&cobra.Command{Use: "doctor", Short: "Tell what this machine can and cannot do, and the mend", Args: cobra.NoArgs,
			RunE: lab((*provision.Lab).Doctor)},
		imagesCommand(lab),
		&cobra.Command{Use: "bench", Short: "Time the lab's coming up, our way against the plain way", Args: cobra.NoArgs,
			RunE: lab((*provision.Lab).Bench)},
		with, beside,
	)
	return root
}

func imagesCommand(lab func(func(*provision.Lab, context.Context) error) func(*cobra.Command, []string) error) *cobra.Command {
	onSets := func(do func(*provision.ImageSets, context.Context) error) func(*provision.Lab, context.Context) error {
		return func(l *provision.Lab, ctx context.Context) error { return do(&provision.ImageSets{Lab: l}, ctx) }
	}
	onFile := func(do func(*provision.ImageSets, context.Context, string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, args []string) error {
			return lab(func(l *provision.Lab, ctx context.Context) error {
				return do(&provision.ImageSets{Lab: l}, ctx, args[0])
			})(c, args)
		}
	}
	images := &cobra.Command{Use: "images", Short: "Pull or build what is not cached, and list what a lab is made of", Args: cobra.NoArgs,
		RunE: lab(onSets((*provision.ImageSets).Images))}
	images.AddCommand(
		&cobra.Command{Use: "list", Short: "List what a lab is made of, and what of it is on this machine", Args: cobra.NoArgs,
			RunE: lab(onSets((*provision.ImageSets).ListImages))},
		&cobra.Command{Use: "save FILE", Short: "Write the images to one file for a machine without a network", Args: cobra.ExactArgs(1),
			RunE: onFile((*provision.ImageSets).SaveImages)},
		&cobra.Command{Use: "load FILE", Short: "Take the images from such a file, every part checked", Args: cobra.ExactArgs(1),
			RunE: onFile((*provision.ImageSets).LoadImages)},
	)
	return images
}
