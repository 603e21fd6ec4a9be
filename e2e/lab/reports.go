package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"
)

// Lies says what of a run lies where: the work directory, Ginkgo's own reports
// if they were asked for, and the evidence if there is any.
func (s Settings) Lies(ginkgoReports ...string) [][]string {
	rows := [][]string{{"work directory", s.WorkDir}}
	var reports []string
	for _, report := range append([]string{s.closingPath()}, ginkgoReports...) {
		if report != "" {
			// While several packages may report, Ginkgo's command puts the path of
			// each and an underscore before the file's name, and takes both away
			// again at the end.
			name := filepath.Base(report)
			reports = append(reports, filepath.Join(filepath.Dir(report), name[strings.LastIndex(name, "_")+1:]))
		}
	}
	rows = append(rows, []string{"reports", strings.Join(reports, ", ")})
	for _, folder := range s.evidenceFolders() {
		if _, err := os.Stat(folder); err == nil {
			rows = append(rows, []string{"evidence", folder})
		}
	}
	return rows
}

func (s Settings) closingPath() string { return filepath.Join(s.Reports, "closing.txt") }

// SaveClosing keeps the closing block beside the other reports.
func (s Settings) SaveClosing(text string) error {
	if err := os.WriteFile(s.closingPath(), []byte(text+"\n"), 0o644); err != nil {
		return fmt.Errorf("saving the closing block: %w", err)
	}
	return nil
}

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
