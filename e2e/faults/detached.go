package faults

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	clientexec "k8s.io/client-go/util/exec"
)

const (
	// onNodeFor bounds one command on the node.
	onNodeFor = time.Minute
	// endsBy is how long a command that is still running may go on when the node is
	// to be restored, before it is killed.
	endsBy = 10 * time.Second
	// onePeek bounds one exec: the stream of one may be cut off without a word.
	onePeek = 10 * time.Second

	// nodeFolder holds a folder for each command on the node: what is run, that it
	// began, what it printed, its exit status. It outlives a restart of the node.
	nodeFolder = "/var/lib/gsb-jobset-fault"
)

// A command on the node may restart kubelet or containerd, through which it was
// started. So it runs apart from that, as a unit of systemd, or without systemd
// in a session and control group of its own, and its result is fetched later.
//
// runScript is what runs apart. Whoever makes the folder "began" first is the only
// one who runs the command: starting it again after a lost answer does no harm.
const runScript = `mkdir "$1/began" 2>/dev/null || exit 0
echo $$ >"$1/pid.new"
mv "$1/pid.new" "$1/began/pid"
sh -e "$1/command" >"$1/output" 2>&1 </dev/null
echo $? >"$1/status.new"
mv "$1/status.new" "$1/status"
`

// startScript takes the command's folder, the command, and runScript.
const startScript = `[ ! -e "$1/began" ] || exit 0
mkdir -p -m 700 "${1%/*}" "$1"
printf '%s\n' "$2" >"$1/command"
printf '%s\n' "$3" >"$1/run"
if [ -d /run/systemd/system ] && command -v systemd-run >/dev/null; then
	systemd-run --quiet --collect --unit "gsb-jobset-fault-${1##*/}" sh "$1/run" "$1" || [ -e "$1/began" ]
else
	(
		for group in /sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/cgroup.procs; do echo 0 >"$group" || true; done 2>/dev/null
		exec setsid sh "$1/run" "$1" >/dev/null 2>&1 </dev/null
	) &
fi
`

// lookScript prints a word for the state of a command, and what belongs to it.
// A command that neither runs nor has a status was killed, with the node perhaps.
const lookScript = `ended() { if [ -e "$1/status" ]; then echo "ended $(cat "$1/status")"; head -c 4000 "$1/output"; else return 1; fi; }
runs() { case "$(tr '\0' ' ' 2>/dev/null <"/proc/$(cat "$1/began/pid")/cmdline")" in *"$1"*) ;; *) return 1 ;; esac; }
if ended "$1"; then :
elif [ -e "$1/never" ]; then echo never
elif [ ! -e "$1/began" ]; then echo waiting
elif [ ! -e "$1/began/pid" ] || runs "$1" 2>/dev/null; then echo running
elif ended "$1"; then :
else echo killed
fi
`

// preventScript keeps a command that has not begun from beginning.
const preventScript = `mkdir -p -m 700 "${1%/*}" "$1"
! mkdir "$1/began" 2>/dev/null || touch "$1/never"
`

// killScript ends a command with all that it started, by unit or by session.
const killScript = `systemctl kill --signal=KILL "gsb-jobset-fault-${1##*/}" 2>/dev/null ||
pkill -KILL -s "$(cat "$1/began/pid")" || kill -KILL "$(cat "$1/began/pid")" || true
`

// A commandError is a command that ran on the node and failed.
type commandError struct{ says string }

func (e *commandError) Error() string { return e.says }

// errNotYet is the state of a command that has no result yet.
var errNotYet = errors.New("it has not ended")

// An execer runs a script on the node, with arguments, through a stream that may
// break at any time.
type execer func(ctx context.Context, script string, args ...string) (string, error)

// run runs a command on the node once, and returns when it has ended.
func (x execer) run(ctx context.Context, id, command string) error {
	folder, started := nodeFolder+"/"+id, false
	return x.poll(ctx, onNodeFor, func(ctx context.Context) error {
		if !started {
			if _, err := x(ctx, startScript, folder, command, runScript); err != nil {
				return err
			}
			started = true
		}
		state, output, err := x.look(ctx, folder)
		switch {
		case err != nil:
			return err
		case state == "ended 0":
			return nil
		case state == "running" || state == "waiting":
			return errNotYet
		}
		return &commandError{fmt.Sprintf("on the node, %s: %s: %s", command, state, output)}
	})
}

// end sees to it that a command neither runs nor will run.
func (x execer) end(ctx context.Context, id string) (began bool, err error) {
	folder, since, killed := nodeFolder+"/"+id, time.Now(), false
	err = x.poll(ctx, onNodeFor, func(ctx context.Context) error {
		if _, err := x(ctx, preventScript, folder); err != nil {
			return err
		}
		state, _, err := x.look(ctx, folder)
		if err != nil {
			return err
		}
		if began = state != "never"; state != "running" {
			return nil
		}
		if time.Since(since) > endsBy && !killed {
			if _, err := x(ctx, killScript, folder); err != nil {
				return err
			}
			killed = true
		}
		return errNotYet
	})
	return began, err
}

// forget removes what is kept on the node about commands.
func (x execer) forget(ctx context.Context) error {
	return x.poll(ctx, onNodeFor, func(ctx context.Context) error {
		_, err := x(ctx, "rm -rf "+nodeFolder)
		return err
	})
}

func (x execer) look(ctx context.Context, folder string) (state, output string, err error) {
	printed, err := x(ctx, lookScript, folder)
	if err != nil {
		return "", "", err
	}
	state, output, _ = strings.Cut(printed, "\n")
	if exit, ended := strings.CutPrefix(state, "ended "); ended {
		if _, err := strconv.Atoi(exit); err != nil {
			return "", "", errNotYet // the status is just being written
		}
	}
	return state, strings.TrimSpace(output), nil
}

// poll tries until there is a result. A stream that breaks is no result; a script
// of ours that ran and failed, or a command that did, is one.
func (x execer) poll(ctx context.Context, within time.Duration, try func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, lookEvery, within, true, func(ctx context.Context) (bool, error) {
		last = try(ctx)
		var failed *commandError
		var exit clientexec.CodeExitError
		// 126 and more are what a container runtime and a killed process give.
		if errors.As(last, &failed) || errors.As(last, &exit) && exit.Code < 126 {
			return false, last
		}
		return last == nil, nil
	})
	if err != nil && last != nil && !errors.Is(err, last) {
		return fmt.Errorf("on the node: %w; at last %w", err, last)
	}
	return err
}
