// Package progress prints the steps of a command as a list.
package progress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// quiet is how long a step may take before a line reports it, where the output is no
// terminal.
const quiet = 15 * time.Second

// List prints each step when it ends. On a terminal the last line shows what is
// running; elsewhere a line reports it now and then.
type List struct {
	out      io.Writer
	terminal bool
	columns  int

	lock    sync.Mutex
	running []*line
	drawn   bool
	stop    chan struct{}
	ended   sync.WaitGroup
}

// line is one running step.
type line struct {
	list     *List
	name     string
	began    time.Time
	doing    string
	reported time.Time
}

func New(out *os.File) *List {
	l := &List{out: out, terminal: term.IsTerminal(int(out.Fd())), columns: 80, stop: make(chan struct{})}
	if columns, _, err := term.GetSize(int(out.Fd())); err == nil && columns > 20 {
		l.columns = columns
	}
	l.ended.Go(func() {
		for ticks := time.NewTicker(500 * time.Millisecond); ; {
			select {
			case <-l.stop:
				ticks.Stop()
				return
			case <-ticks.C:
				l.tick()
			}
		}
	})
	return l
}

// Close ends the drawing and leaves the cursor at the start of a line.
func (l *List) Close() {
	close(l.stop)
	l.ended.Wait()
	l.lock.Lock()
	defer l.lock.Unlock()
	l.erase()
}

// Start begins a line.
func (l *List) Start(name string) *line {
	l.lock.Lock()
	defer l.lock.Unlock()
	started := &line{list: l, name: name, began: time.Now(), reported: time.Now()}
	l.running = append(l.running, started)
	return started
}

// Say sets what the line is doing now.
func (n *line) Say(doing string) {
	n.list.lock.Lock()
	defer n.list.lock.Unlock()
	n.doing = doing
}

// End prints the line of a step that is done or has failed.
func (n *line) End(summary string, err error) {
	l := n.list
	l.lock.Lock()
	defer l.lock.Unlock()
	for i := range l.running {
		if l.running[i] == n {
			l.running = append(l.running[:i], l.running[i+1:]...)
			break
		}
	}
	l.erase()
	mark := "✓"
	switch {
	case errors.Is(err, context.Canceled):
		mark, summary = "✗", "interrupted"
	case err != nil:
		mark, summary = "✗", "see below"
	}
	fmt.Fprintf(l.out, " %s %-10s %-60s %6.1fs\n", mark, n.name, summary, time.Since(n.began).Seconds())
}

// Note prints lines below the one that ended last.
func (l *List) Note(format string, args ...any) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.erase()
	for _, text := range strings.Split(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintf(l.out, "   %s\n", text)
	}
}

func (l *List) erase() {
	if l.drawn {
		fmt.Fprint(l.out, "\r\x1b[K")
		l.drawn = false
	}
}

func (l *List) tick() {
	l.lock.Lock()
	defer l.lock.Unlock()
	var now []string
	for _, n := range l.running {
		text := fmt.Sprintf("%s %.0fs", n.name, time.Since(n.began).Seconds())
		if n.doing != "" {
			text += ": " + n.doing
		}
		now = append(now, text)
		if !l.terminal && time.Since(n.reported) > quiet {
			fmt.Fprintf(l.out, " … %s\n", text)
			n.reported = time.Now()
		}
	}
	if !l.terminal || len(now) == 0 {
		return
	}
	l.erase()
	text := []rune(" … " + strings.Join(now, " | "))
	fmt.Fprint(l.out, string(text[:min(len(text), l.columns-1)]))
	l.drawn = true
}
