// Package settings reads what the environment says of a run.
package settings

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/rand"

	"gsb.test/jobset-e2e/fixtures"
)

// CollectedFiles is where the files that the run wrote into a folder of somebody's end up.
func (s Settings) CollectedFiles() string { return filepath.Join(s.Reports, "files") }

// WrittenFiles is where the files that the run wrote lie.
func (s Settings) WrittenFiles() string {
	if _, err := os.Stat(s.CollectedFiles()); err == nil {
		return s.CollectedFiles()
	}
	return s.WorkDir
}

// ReadWait reads how long to wait for a lab that still boots; nothing is not at all.
func ReadWait(given string) (time.Duration, error) {
	if given == "" {
		return 0, nil
	}
	wait, err := time.ParseDuration(given)
	if err != nil || wait < 0 {
		return 0, fmt.Errorf("LAB_WAIT (--wait) is %q, which is no length of time; give one such as 5m or 90s", given)
	}
	return wait, nil
}

// A learner in an air-gapped VM writes the name of an image that the VM has.
// LAB_IMAGE (--image) does the same to the learner's files, and nothing else in
// them is ever touched: the fixtures stay, byte for byte, what a learner writes
// where busybox can be had. It is the one edit that a machine forces upon the
// files. The lab text names no image, so a run with another one proves no less;
// the preflight and the closing block say that it was so.

// ImageName is what may stand for an image: a reference, and nothing that means
// more to YAML than a plain word.
var ImageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/@-]*(:[A-Za-z0-9._-]+[A-Za-z0-9._/@:-]*)?$`)

// RunVariable hands a run's id to the runs that it starts on the same lab itself:
// its Lease, and its fault journal, are no reason for those not to run.
const RunVariable = "LAB_RUN"

// newRun makes the id of a run: when it began, and what tells it from one that
// began in the same second.
func newRun() string { return time.Now().UTC().Format("20060102-150405-") + rand.String(5) }

const LedgerName = "written.json"

// ReadSettingsToRead is ReadSettings for a look that changes nothing: no
// directory is made, none is tried by writing into it, and nothing is reported
// anywhere. A work directory that does not exist holds no file yet.
func ReadSettingsToRead(getenv func(string) string, root string) (Settings, error) {
	places := DefaultPaths(getenv, root)
	settings := Settings{Kubeconfig: places.Kubeconfig, WorkDir: places.WorkDir}
	if settings.Kubeconfig == "" {
		return settings, errors.New("LAB_KUBECONFIG does not say which lab to look at.\n" + nameTheLab)
	}
	if _, err := os.Stat(settings.Kubeconfig); err != nil {
		return settings, fmt.Errorf("LAB_KUBECONFIG names a file that cannot be read: %w.\n"+nameTheLab, err)
	}
	return settings, nil
}

// nameTheLab is the fix for a kubeconfig that was not found.
const nameTheLab = "  To name one: make check LAB_KUBECONFIG=/path/to/its/kubeconfig LAB_WORKDIR=/path/to/the/learner's/files"

// Settings are what the environment says of a run.
type Settings struct {
	// Kubeconfig is LAB_KUBECONFIG: the only thing that a run is given of its lab.
	Kubeconfig string
	// WorkDir is LAB_WORKDIR: the directory that stands for /root/gsb-jobset.
	WorkDir string
	// Reports is LAB_REPORTS: where the closing block and the evidence go.
	Reports string

	// Image is LAB_IMAGE: an image that the lab has, to stand in the learner's
	// files for the one they name; empty leaves them alone.
	Image string
	// Keep is LAB_KEEP=1: what the run made in the lab stays there to be looked at,
	// or graded. Otherwise nothing of it does: the lab may be somebody's.
	Keep bool
	// Fresh is LAB_FRESH=1: the learner's JobSets may be taken away, and the
	// learner's files moved aside.
	Fresh bool
	// Wait is LAB_WAIT: for how long a lab that still boots is waited for.
	Wait time.Duration

	// Files and JobSets are the names of those that the steps are about: a run reads,
	// writes and removes no others.
	Files, JobSets []string

	// Run is this run's id: on its Lease, on the JobSets that it applies and in its
	// verdict. A run that another one starts on the same lab gets that one's, LAB_RUN.
	Run string
	// LabEnds says that the lab is removed after the run, by who made it for the run.
	LabEnds bool
}

// ReadSettings reads the environment through getenv. root is the directory
// below which the defaults lie. Neither the user's own kubeconfig nor the one of
// a pod is ever fallen back to: a run must not use a cluster by accident.
func ReadSettings(getenv func(string) string, root string) (Settings, error) {
	settings := DefaultPaths(getenv, root)
	settings.Image = strings.TrimSpace(getenv("LAB_IMAGE"))
	settings.Keep, settings.Fresh = getenv("LAB_KEEP") == "1", getenv("LAB_FRESH") == "1"
	settings.LabEnds = getenv(fixtures.LabEndsVariable) != ""
	if settings.Image != "" && !ImageName.MatchString(settings.Image) {
		return settings, fmt.Errorf("LAB_IMAGE is %q, which is no image's name; one is busybox:1.35.0 or registry.local:5000/tools/busybox:1", settings.Image)
	}
	var err error
	if settings.Wait, err = ReadWait(getenv("LAB_WAIT")); err != nil {
		return settings, err
	}
	if settings.Kubeconfig == "" {
		return settings, errors.New("LAB_KUBECONFIG does not say which lab to use.\n" + HowToName)
	}
	if _, err := os.Stat(settings.Kubeconfig); err != nil {
		return settings, fmt.Errorf("LAB_KUBECONFIG names a file that cannot be read: %w.\n%s", err, HowToName)
	}
	if err := writable(settings.Reports); err != nil {
		return settings, fmt.Errorf("the reports cannot be written: %w.\n"+
			"  Name another directory: make steps LAB_REPORTS=/path", err)
	}
	if err := writable(settings.WorkDir); err != nil {
		return settings, fmt.Errorf("the work directory, which stands for /root/gsb-jobset, cannot be written: %w.\n"+
			"  Name another one: make steps LAB_WORKDIR=/path", err)
	}
	return settings, nil
}

// Root is the directory below which the defaults lie: the nearest one, from here
// upwards, that holds this project, or else where we are.
func Root() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding out where this runs: %w", err)
	}
	for at := here; ; at = filepath.Dir(at) {
		if isCheckout(at) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return here, nil
		}
	}
}

// writable makes the directory if it is missing and proves by writing a file
// that it can be written: permission bits say nothing of a read-only or a full
// file system.
func writable(directory string) error {
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("%s: %w", directory, err)
	}
	probe, err := os.CreateTemp(directory, ".writable-*")
	if err != nil {
		return fmt.Errorf("%s: %w", directory, err)
	}
	_, err = probe.WriteString("this directory can be written\n")
	if err := errors.Join(err, probe.Close(), os.Remove(probe.Name())); err != nil {
		return fmt.Errorf("%s: %w", directory, err)
	}
	return nil
}

// EvidenceDir is where the evidence of failures lies.
func (s Settings) EvidenceDir() string { return filepath.Join(s.Reports, "evidence") }
