package provision

import (
	"context"
	"fmt"
	"os"

	"gsb.test/jobset-e2e/provision/engine"
	"gsb.test/jobset-e2e/provision/labs"
)

// chooseEngine returns the engine that holds this lab; for a lab that does not exist,
// the one that engine.Find finds. So a lab is found again even if Find would choose
// another engine today. folder is as for engine.Find.
func chooseEngine(ctx context.Context, l *labs.Lab, folder string) (engine.Engine, error) {
	record, _ := labs.ReadRecord(l.RecordFile())
	wanted := os.Getenv("LAB_ENGINE")
	if record.Engine == "" || wanted == record.Engine {
		return engine.Find(ctx, folder)
	}
	if wanted != "" {
		return engine.Engine{}, fmt.Errorf("the lab %s is in %s, and LAB_ENGINE is %q\n   remove it first: LAB_NAME=%s LAB_ENGINE=%s make down; or take another name: LAB_NAME=%s-2",
			l.Name, record.Engine, wanted, l.Name, record.Engine, l.Name)
	}
	found, err := engine.Try(ctx, engine.Engine{Name: record.Engine}, folder)
	if err != nil {
		return found, fmt.Errorf("the lab %s is in %s, which does not work now:\n%w\n   start it again; or, if it is gone for good: rm %s",
			l.Name, record.Engine, err, l.RecordFile())
	}
	found.Why = "the lab is in it"
	return found, nil
}
