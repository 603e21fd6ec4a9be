package suite

import (
	"io"
	"os"
	"os/signal"
	"syscall"
)

// An earlyInterrupt is a signal that comes before the suite handles any.
type earlyInterrupt struct{ signals chan os.Signal }

// listenEarly listens from the program's first moment on: what comes while settings
// are read and specs are made must neither kill without a word nor end in Ginkgo's
// traces. interrupts.HandleSignals takes over by taking the signals away from every listener.
func listenEarly() earlyInterrupt {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return earlyInterrupt{signals}
}

// heard reports whether a signal came; signal still returns it.
func (e earlyInterrupt) heard() bool { return len(e.signals) > 0 }

// signal is the one that came before the suite began; nil if none did.
func (e earlyInterrupt) signal() os.Signal {
	select {
	case got := <-e.signals:
		return got
	default:
		return nil
	}
}

func (e earlyInterrupt) stop() { signal.Stop(e.signals) }

// exceptOfInterrupts drops what Ginkgo prints about a signal that it heard itself, in
// the moment before the suite handles any: Ginkgo calls the interrupt a failure.
type exceptOfInterrupts struct {
	io.Writer
	early earlyInterrupt
}

func (w exceptOfInterrupts) Write(text []byte) (int, error) {
	if w.early.heard() {
		return len(text), nil
	}
	return w.Writer.Write(text)
}
