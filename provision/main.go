package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main is the whole of a program's main: it runs, tells an error in the program's
// name, and ends with the exit status: that of a command which it ran and which
// failed, 130 after an interrupt, else 1. A first signal lets what is running clean
// up; a second one kills, as usual.
func Main(program string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop)
	err := run(ctx)
	var ended *Ended
	switch {
	case err == nil:
	case errors.As(err, &ended):
		os.Exit(ended.Code) // the command has said itself what was wrong
	case errors.Is(err, context.Canceled) && !errors.Is(err, ErrNotRemoved):
		fmt.Fprintf(os.Stderr, "\n%s: interrupted\n", program)
		os.Exit(130)
	default:
		fmt.Fprintf(os.Stderr, "\n%s: %v\n", program, err)
		os.Exit(1)
	}
}
