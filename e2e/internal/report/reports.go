package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/settings"
	"gsb.test/jobset-e2e/e2e/snapshot"
)

// Locations are where the files of a run lie: the work directory, the reports, and the
// evidence if there is any.
func Locations(s settings.Settings) [][]string {
	rows := [][]string{{"work directory", s.WrittenFiles()},
		{"reports", strings.Join([]string{closingPath(s), verdictPath(s), JUnitReport(s), SpecsReport(s)}, ", ")}}
	for _, name := range evidenceNames(s) {
		rows = append(rows, []string{"evidence", filepath.Join(s.Reports, name)})
	}
	return rows
}

func closingPath(s settings.Settings) string { return filepath.Join(s.Reports, "closing.txt") }

// JUnitReport and SpecsReport are where Ginkgo writes what it reports of each spec.
func JUnitReport(s settings.Settings) string { return filepath.Join(s.Reports, "junit.xml") }
func SpecsReport(s settings.Settings) string { return filepath.Join(s.Reports, "specs.json") }

// SaveClosing keeps the closing block, for a person and for a program.
func SaveClosing(s settings.Settings, closing Summary) error {
	if err := files.ReplaceFile(closingPath(s), []byte(closing.String()+"\n")); err != nil {
		return fmt.Errorf("saving the closing block: %w", err)
	}
	return save(s, closing.ToVerdict())
}

// SaveSnapshot keeps the very snapshot that a step or a mistake was passed on, so
// that it can be judged again without a cluster.
func SaveSnapshot(s settings.Settings, name string, snapshot *snapshot.Snapshot) error {
	content, err := snapshot.YAML()
	if err != nil {
		return err
	}
	path := filepath.Join(snapshots(s), name+".yaml")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("saving the snapshot: %w", err)
	}
	if err := files.ReplaceFile(path, content); err != nil {
		return fmt.Errorf("saving the snapshot: %w", err)
	}
	return nil
}

func snapshots(s settings.Settings) string { return filepath.Join(s.Reports, "snapshots") }

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
