// Command lab makes the lab, removes it, and reports what this machine can do.
package main

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision"
	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/labs"
)

// version is what --version prints; a container engine is tried by running this
// program in a container and comparing.
const version = "lab 1"

func main() {
	provision.Main("lab", func(ctx context.Context, unfinished *labs.Unfinished) error {
		return command(unfinished).ExecuteContext(ctx)
	})
}

func command(unfinished *labs.Unfinished) *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "Makes the JobSet lab on this machine, and removes it",
		Long: "Makes the JobSet lab on this machine, and removes it.\n\n" +
			"Environment:\n" +
			"  LAB_NAME    the lab's name (" + labs.DefaultName + "): labs of different names exist side by side\n" +
			"  LAB_ENGINE  docker or podman; without it the first that works\n" +
			"  LAB_IMAGES  registry, source, or auto: registry where all answer, else source\n" +
			"  LAB_MIRROR  the address of a mirror of every registry, or a mirror file\n" +
			"  LAB_KEEP=1  keep the lab, after a failure too",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.CompletionOptions.DisableDefaultCmd = true
	lab := func(do func(context.Context, *labs.Lab) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, _ []string) error {
			pins, err := fixtures.ReadPins()
			if err != nil {
				return err
			}
			l, err := labs.New(pins, os.Getenv("LAB_NAME"))
			if err != nil {
				return err
			}
			l.Keep, l.Unfinished = os.Getenv("LAB_KEEP") == "1", unfinished
			return do(c.Context(), l)
		}
	}
	with := &cobra.Command{Use: "with COMMAND [ARG ...]", Short: "Make the lab, run a command with LAB_KUBECONFIG set, remove the lab",
		Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab(func(ctx context.Context, l *labs.Lab) error { return provision.With(ctx, l, args) })(c, args)
		}}
	withEngine := &cobra.Command{Use: "with-engine COMMAND [ARG ...]", Short: "Run a command that makes a cluster of its own with the lab's engine and node image",
		Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab(func(ctx context.Context, l *labs.Lab) error { return provision.WithEngine(ctx, l, args) })(c, args)
		}}
	bench := &cobra.Command{Use: "bench COMMAND [ARG ...]", Short: "Time a lab made the plain way and ours, the command on it, and a restart of the node",
		Args: cobra.MinimumNArgs(1), DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			return lab(func(ctx context.Context, l *labs.Lab) error { return provision.Bench(ctx, l, args) })(c, args)
		}}
	for _, runs := range []*cobra.Command{with, withEngine, bench} {
		runs.Flags().SetInterspersed(false) // the command's flags are the command's
	}
	root.AddCommand(
		&cobra.Command{Use: "up", Short: "Make the lab; an existing lab is checked and fixed", Args: cobra.NoArgs,
			RunE: lab(provision.Up)},
		&cobra.Command{Use: "down", Short: "Remove the lab and everything made for it", Args: cobra.NoArgs,
			RunE: lab(provision.Down)},
		&cobra.Command{Use: "doctor", Short: "Report what this machine can and cannot do, and how to fix it", Args: cobra.NoArgs,
			RunE: lab(provision.Doctor)},
		imagesCommand(lab),
		with, withEngine, bench,
	)
	return root
}

func imagesCommand(lab func(func(context.Context, *labs.Lab) error) func(*cobra.Command, []string) error) *cobra.Command {
	onSets := func(do func(*imageset.Resolver, context.Context) error) func(context.Context, *labs.Lab) error {
		return func(ctx context.Context, l *labs.Lab) error { return do(&imageset.Resolver{Lab: l}, ctx) }
	}
	onFile := func(do func(*imageset.Resolver, context.Context, string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, args []string) error {
			return lab(func(ctx context.Context, l *labs.Lab) error {
				return do(&imageset.Resolver{Lab: l}, ctx, args[0])
			})(c, args)
		}
	}
	images := &cobra.Command{Use: "images", Short: "Pull or build what is not cached, and list what a lab is made of", Args: cobra.NoArgs,
		RunE: lab(onSets((*imageset.Resolver).Images))}
	images.AddCommand(
		&cobra.Command{Use: "list", Short: "List what a lab is made of, and what of it is on this machine", Args: cobra.NoArgs,
			RunE: lab(onSets((*imageset.Resolver).List))},
		&cobra.Command{Use: "save FILE", Short: "Write the images to one file for a machine without a network", Args: cobra.ExactArgs(1),
			RunE: onFile((*imageset.Resolver).Save)},
		&cobra.Command{Use: "load FILE", Short: "Take the images from such a file, every part checked", Args: cobra.ExactArgs(1),
			RunE: onFile((*imageset.Resolver).Load)},
	)
	return images
}
