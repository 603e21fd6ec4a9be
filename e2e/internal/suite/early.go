package suite

import (
	"os"
	"os/signal"
	"syscall"
)

// An earlyInterrupt is a signal that comes before the suite handles any.
type earlyInterrupt struct{ signals chan os.Signal }

// listenEarly listens from the program's first moment on: what comes while settings
// are read and specs are made must neither kill without a word nor end in Ginkgo's
// traces. lab.HandleSignals takes over by taking the signals away from every listener.
func listenEarly() earlyInterrupt {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	return earlyInterrupt{signals}
}

// heard tells whether a signal came, and leaves it to be told.
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
