package report

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"

	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// CheckReports requires that the two reports that Ginkgo writes are whole: it does
// not look at every error of writing them, so that a full disk cuts them short
// without a word.
func CheckReports(s settings.Settings) error {
	var broken []error
	for path, whole := range map[string]func(io.Reader) error{JUnitReport(s): wholeXML, SpecsReport(s): wholeJSON} {
		file, err := os.Open(path)
		if err == nil {
			err = errors.Join(whole(file), file.Close())
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("the report %s is not whole, as when the disk is full: %w", path, err))
		}
	}
	return errors.Join(broken...)
}

func wholeXML(file io.Reader) error {
	tags := 0
	for decoder := xml.NewDecoder(file); ; tags++ {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) && tags > 1 {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func wholeJSON(file io.Reader) error {
	var report json.RawMessage
	return json.NewDecoder(file).Decode(&report)
}

// Unreported fails a closing of which a report could not be written.
func (c Summary) Unreported(err error) Summary {
	if c.Verdict != Failed {
		c.Verdict, c.Reason = Failed, err.Error()
	}
	return c
}

// NotBegun is the closing of a run that was ended before it did anything.
func (c Summary) NotBegun(why string) Summary {
	c.Verdict, c.Reason = notRun, why
	return c
}
