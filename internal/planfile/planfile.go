// Package planfile keeps plans on disk, each in a directory of its own below the
// program's state, plans/ID:
//
//	plan.md          the newest revision
//	tasks.json       what it says is to be done
//	revisions/N.md   every revision
//
// A person may read and copy them; the program goes by its log. [Keep] is
// durable when it returns, replaces every file in one step, and may be repeated.
// It writes nowhere else: a link that came with a project leads nowhere.
package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/event"
)

const folder = "plans"

// Dir is the directory of a plan.
func Dir(state, plan string) string { return filepath.Join(state, folder, plan) }

// Keep writes a revision of a plan into the plan's directory, which is made if
// it is not there.
func Keep(state, plan string, revision int, text string, tasks []event.Task) error {
	if err := keep(state, plan, revision, text, tasks); err != nil {
		return fmt.Errorf("keep the plan in %s: %w", Dir(state, plan), err)
	}
	return nil
}

func keep(state, plan string, revision int, text string, tasks []event.Task) error {
	if tasks == nil {
		tasks = []event.Task{}
	}
	list, err := json.MarshalIndent(tasks, "", "  ")
	if err != nil {
		return err
	}
	top, err := os.OpenRoot(state)
	if err != nil {
		return err
	}
	defer top.Close()
	dir := filepath.Join(folder, plan)
	if err := top.MkdirAll(filepath.Join(dir, "revisions"), 0o700); err != nil {
		return err
	}
	root, err := top.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// plan.md comes last: with it the revision is complete.
	err = errors.Join(
		write(root, fmt.Sprintf("revisions/%d.md", revision), []byte(text)),
		write(root, "tasks.json", append(list, '\n')),
	)
	if err == nil {
		err = write(root, "plan.md", []byte(text))
	}
	if err != nil {
		return err
	}
	return errors.Join(sync(root, "revisions"), sync(root, "."), sync(top, folder), sync(top, "."))
}

// write replaces a file in one step.
func write(root *os.Root, name string, p []byte) error {
	f, err := root.OpenFile(name+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(p)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return root.Rename(name+".new", name)
}

// sync makes the names in a directory durable.
func sync(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return flush(f)
}
