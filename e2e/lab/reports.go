package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// Lies says what of a run lies where: the work directory, the reports, and the
// evidence if there is any.
func (s Settings) Lies() [][]string {
	rows := [][]string{{"work directory", s.writtenFiles()},
		{"reports", strings.Join([]string{s.closingPath(), s.verdictPath(), s.JUnitReport(), s.SpecsReport()}, ", ")}}
	for _, name := range s.evidenceNames() {
		rows = append(rows, []string{"evidence", filepath.Join(s.Reports, name)})
	}
	return rows
}

func (s Settings) closingPath() string { return filepath.Join(s.Reports, "closing.txt") }

// JUnitReport and SpecsReport are where Ginkgo writes what it reports of each spec.
func (s Settings) JUnitReport() string { return filepath.Join(s.Reports, "junit.xml") }
func (s Settings) SpecsReport() string { return filepath.Join(s.Reports, "specs.json") }

// SaveClosing keeps the closing block, for a person and for a program.
func (s Settings) SaveClosing(closing Closing) error {
	if err := replaceFile(s.closingPath(), []byte(closing.String()+"\n")); err != nil {
		return fmt.Errorf("saving the closing block: %w", err)
	}
	return s.save(closing.Machine())
}

// SaveSnapshot keeps the very snapshot that a step or a mistake was passed on, so
// that it can be judged again without a cluster.
func (s Settings) SaveSnapshot(name string, snapshot *Snapshot) error {
	content, err := snapshot.YAML()
	if err != nil {
		return err
	}
	path := filepath.Join(s.snapshots(), name+".yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("saving the snapshot: %w", err)
	}
	if err := replaceFile(path, content); err != nil {
		return fmt.Errorf("saving the snapshot: %w", err)
	}
	return nil
}

func (s Settings) snapshots() string { return filepath.Join(s.Reports, "snapshots") }

// A Heading prints the name of each step or mistake once, before its first spec.
type Heading struct{ last string }

// Before returns what to print before a spec.
func (h *Heading) Before(report types.SpecReport) string {
	texts := append(slices.Clone(report.ContainerHierarchyTexts), report.LeafNodeText)
	if report.State.Is(types.SpecStateSkipped) || len(texts) < 2 || texts[1] == h.last {
		return ""
	}
	h.last = texts[1]
	return "\n" + h.last + "  "
}
