package answers

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gsb.test/jobset-e2e/e2e/snapshot"
)

// solvedRecording is the lab that the answers on the solved lab share; of each of
// those only the files are recorded.
const solvedRecording = "solved-lab"

const recordingEnding = ".yaml.gz"

// record keeps a snapshot as test data; compressed, for there are many and nobody reads them.
func record(directory, name string, s *snapshot.Snapshot) error {
	recording, err := s.Recording()
	if err != nil {
		return err
	}
	content, err := recording.YAML()
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	packer := gzip.NewWriter(&packed)
	_, err = packer.Write(content)
	if err = errors.Join(err, packer.Close()); err == nil {
		err = os.MkdirAll(directory, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(directory, name+recordingEnding), packed.Bytes(), 0o644)
	}
	if err != nil {
		return fmt.Errorf("recording answer %s: %w", name, err)
	}
	return nil
}

// recorded is what is kept of an answer's snapshot.
func recorded(a Answer, s *snapshot.Snapshot) *snapshot.Snapshot {
	kept := *s
	if a.OnSolvedLab {
		kept = snapshot.Snapshot{Namespace: s.Namespace}
	}
	kept.Files, kept.FilesUnread = map[string]string{}, map[string]snapshot.Text{}
	for _, name := range a.Step.Files {
		if text, there := s.Files[name]; there {
			kept.Files[name] = text
		}
		if unread, there := s.FilesUnread[name]; there {
			kept.FilesUnread[name] = unread
		}
	}
	return &kept
}
