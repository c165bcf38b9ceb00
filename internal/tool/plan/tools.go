package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"conclave/internal/policy"
	"conclave/internal/tool"
)

// Path is where the plan is kept in a workspace.
const Path = "tasks/plan.json"

// maxFile bounds a plan file: far more than the largest plan.
const maxFile = 8 << 20

// Options say where the plan is and how large it may get.
type Options struct {
	// Read returns what is in the file, or [fs.ErrNotExist]; it need not read
	// more than a few MiB. Write replaces it, and makes the folder it is in.
	Read  func() ([]byte, error)
	Write func([]byte) error
	// Path is what the file is called in actions and messages; empty is [Path].
	Path string
	// MaxTasks is how many tasks there may be; zero is 200.
	MaxTasks int
}

// keeper is the plan in its file. Calls take turns.
type keeper struct {
	Options
	mu sync.Mutex
}

// Tools are how an agent works with its plan.
func Tools(o Options) []tool.Tool {
	if o.MaxTasks <= 0 {
		o.MaxTasks = maxTasks
	}
	if o.Path == "" {
		o.Path = Path
	}
	k := &keeper{Options: o}
	return []tool.Tool{k.create(), k.add(), k.update(), k.edit(), k.list()}
}

// load is the plan in the file; none is an empty one.
func (k *keeper) load() (Plan, error) {
	var p Plan
	raw, err := k.Read()
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	} else if err != nil {
		return p, fmt.Errorf("%s cannot be read: %w", k.Path, err)
	}
	if len(raw) > maxFile {
		return p, fmt.Errorf("%s has %d bytes, which is no plan of ours", k.Path, len(raw))
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return p, fmt.Errorf("%s is not a plan: %w", k.Path, err)
	}
	if err := p.Check(k.MaxTasks); err != nil {
		return p, fmt.Errorf("%s is not a plan that makes sense: %w", k.Path, err)
	}
	return p, nil
}

// change makes a new plan of the one there is, keeps it and shows it.
func (k *keeper) change(f func(Plan) (Plan, error)) (tool.Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	old, err := k.load()
	if err != nil {
		return refused(fmt.Errorf("%w. Mend the file, or make a new plan with plan_create and replace", err)), nil
	}
	p, err := f(old)
	if err != nil {
		return refused(err), nil
	}
	if err := k.save(p); err != nil {
		return refused(err), nil
	}
	return tool.Result{Text: p.Text()}, nil
}

func (k *keeper) save(p Plan) error {
	raw, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	if err := k.Write(append(raw, '\n')); err != nil {
		return fmt.Errorf("%s cannot be written: %w", k.Path, err)
	}
	return nil
}

// refused tells the model why nothing was changed.
func refused(err error) tool.Result {
	return tool.Failed("The plan is unchanged: " + strings.ReplaceAll(err.Error(), "\n", "; ") + ".")
}

// writes is the action of every tool that changes the plan.
func (k *keeper) writes() policy.Action { return policy.Action{Kind: policy.Write, Target: k.Path} }
