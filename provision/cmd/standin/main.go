// Command standin runs a command on a machine where no registry answers as if
// they did: a real OCI registry and a download site on the loopback address, and
// LAB_MIRROR naming them. What they hold is this checkout's source build, cut up
// as releases are. It ends with the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"gsb.test/jobset-e2e/provision"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:])
	var ended *provision.Ended
	switch {
	case err == nil:
	case errors.As(err, &ended):
		os.Exit(ended.Code) // the command has said itself what was wrong
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "\nstandin: interrupted")
		os.Exit(130)
	default:
		fmt.Fprintf(os.Stderr, "\nstandin: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) < 2 || args[0] != "--" {
		return errors.New("usage: standin -- COMMAND [ARG ...]")
	}
	l, err := provision.New(os.Getenv("LAB_NAME"), false)
	if err != nil {
		return err
	}
	release, err := l.Release(ctx)
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
