package proc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/event"
)

// record is what is written down about a process: first whose it will be, then
// who it is.
type record struct {
	path  string
	kin   kin
	Flow  event.FlowID `json:"flow"`
	Mark  string       `json:"mark"`
	Owner Identity     `json:"owner"`
	Child Identity     `json:"child,omitzero"`
}

// newRecord writes down that a process will be started. Without a directory, or
// where processes have no identity, there is none.
func newRecord(dir string, flow event.FlowID, mark string) (*record, error) {
	owner, err := Self()
	if dir == "" || err != nil {
		return nil, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for process records: %w", err)
	}
	r := &record{path: filepath.Join(dir, mark+".json"), Flow: flow, Mark: mark, Owner: owner}
	return r, r.write()
}

// born adds who the process is.
func (r *record) born(id Identity) error {
	if r == nil {
		return nil
	}
	r.Child = id
	return r.write()
}

// write replaces the record as a whole, so that nobody reads half of one.
func (r *record) write() error {
	body, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write process record: %w", err)
	}
	if err := os.WriteFile(r.path+".new", body, 0o600); err != nil {
		return fmt.Errorf("write process record: %w", err)
	}
	if err := os.Rename(r.path+".new", r.path); err != nil {
		return fmt.Errorf("write process record: %w", err)
	}
	return nil
}

func (r *record) remove() error {
	if r == nil {
		return nil
	}
	if err := os.Remove(r.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove process record: %w", err)
	}
	return nil
}

// records reads all records of a directory. One that cannot be read is reported
// and left where it is.
func records(dir string) ([]*record, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read process records: %w", err)
	}
	var out []*record
	var errs []error
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		r := &record{path: filepath.Join(dir, e.Name())}
		body, err := os.ReadFile(r.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // its process has ended meanwhile
		}
		if err == nil {
			err = json.Unmarshal(body, r)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("read process record %s: %w", r.path, err))
			continue
		}
		r.kin.mark = r.Mark
		out = append(out, r)
	}
	return out, errors.Join(errs...)
}
