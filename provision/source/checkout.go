package source

import (
	"fmt"
	"os"
	"path/filepath"
)

// FindCheckout returns the folder of this repository around the working directory.
func FindCheckout() (string, error) {
	here, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for folder := here; ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "provision", "source", "programs", "go.mod")); err == nil {
			return folder, nil
		}
		if folder == filepath.Dir(folder) {
			return "", fmt.Errorf("%s is not inside a checkout of this repository: cd into one", here)
		}
	}
}
