// Command testregistry runs a command with a test registry: an OCI registry and a
// download site on the loopback address, named in LAB_MIRROR, with this checkout's
// source build in the form of a release. It ends with the command.
package main

import (
	"context"
	"errors"
	"os"

	"gsb.test/jobset-e2e/fixtures"
	"gsb.test/jobset-e2e/provision"
	"gsb.test/jobset-e2e/provision/imageset"
	"gsb.test/jobset-e2e/provision/labs"
)

func main() {
	provision.Main("testregistry", func(ctx context.Context, _ *labs.Unfinished) error { return run(ctx, os.Args[1:]) })
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 || args[0] != "--" {
		return errors.New("usage: testregistry -- COMMAND [ARG ...]")
	}
	pins, err := fixtures.ReadPins()
	if err != nil {
		return err
	}
	l, err := labs.New(pins, os.Getenv("LAB_NAME"))
	if err != nil {
		return err
	}
	release, err := (&imageset.Resolver{Lab: l}).Release(ctx)
	if err != nil {
		return err
	}
	served, err := serve(ctx, release)
	if err != nil {
		return err
	}
	defer served.close()
	return provision.Run(ctx, args[1:], "LAB_MIRROR="+served.mirrors)
}
