package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"gsb.test/jobset-e2e/e2e/internal/files"
	"gsb.test/jobset-e2e/e2e/internal/page"
	"gsb.test/jobset-e2e/e2e/internal/settings"
)

// reportCommand makes the page of one run's reports again, or one page of two runs.
func reportCommand() *cobra.Command {
	command := &cobra.Command{Use: "report [A [B]]", Short: "Make the page of a run's reports, or of what differs between two runs",
		Long: "Makes report.html of the reports in a folder, .lab if none is named. With two folders,\n" +
			"compare.html in the second one says what differs: versions, results, seconds, timelines.", Args: cobra.MaximumNArgs(2)}
	command.RunE = func(_ *cobra.Command, folders []string) error {
		if len(folders) == 2 {
			content, err := page.Compare(folders[0], folders[1])
			path := filepath.Join(folders[1], "compare.html")
			if err == nil {
				err = files.ReplaceFile(path, content)
			}
			if err == nil {
				fmt.Println(path)
			}
			return plainError(err)
		}
		root, err := settings.Root()
		if err != nil {
			return err
		}
		places := settings.DefaultPaths(os.Getenv, root)
		if len(folders) == 1 {
			places.Reports = folders[0]
		}
		if err := page.Write(places); err != nil {
			return plainError(err)
		}
		fmt.Println(filepath.Join(places.Reports, page.Name))
		return nil
	}
	return command
}
