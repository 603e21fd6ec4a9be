package lab

import (
	"context"
	"errors"
	"slices"
)

// Cleanup removes what a run left that did not come to its own end: the files that
// it wrote and that nobody changed since, and its JobSets. The files go even where
// the cluster does not answer, for they are the solutions.
func Cleanup(ctx context.Context, settings Settings) error {
	files := (&World{Settings: settings}).removeFiles()
	world, err := Connect(settings)
	if err != nil {
		return errors.Join(files, err)
	}
	ours, _, err := world.jobSets(ctx)
	if err == nil {
		err = world.remove(ctx, ours)
	}
	return errors.Join(files, err)
}

func (w *World) removeFiles() error {
	changed, err := w.ledger().strangers(w.stepFiles())
	if err != nil {
		return err
	}
	return w.ledger().clear(slices.DeleteFunc(w.stepFiles(), func(path string) bool { return slices.Contains(changed, path) }))
}
