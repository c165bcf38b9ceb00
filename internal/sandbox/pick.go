package sandbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// order is which engines are tried when none is asked for. Host is never among
// them: no confinement has to be asked for by name.
var order = []string{"bwrap", "landlock"}

// ErrNone is that no sandbox works here, or not the one that was asked for.
var ErrNone = errors.New("no sandbox")

// Pick is the engine that was asked for by name or, if wanted is empty, the
// first of bwrap and landlock that works here. Reasons say why those before it
// do not.
func Pick(ctx context.Context, engines []Engine, wanted string) (Engine, []string, error) {
	find := func(name string) Engine {
		if i := slices.IndexFunc(engines, func(e Engine) bool { return e.Name() == name }); i >= 0 {
			return engines[i]
		}
		return nil
	}
	if wanted != "" {
		e := find(wanted)
		if e == nil {
			return nil, nil, fmt.Errorf("%w: there is no sandbox %q; choose one of %s", ErrNone, wanted, names(engines))
		}
		if err := e.Probe(ctx); err != nil {
			return nil, nil, fmt.Errorf("%w: %s does not work here: %w", ErrNone, wanted, err)
		}
		return e, nil, nil
	}
	var reasons []string
	for _, name := range order {
		e := find(name)
		if e == nil {
			continue
		}
		err := e.Probe(ctx)
		if err == nil {
			return e, reasons, nil
		}
		reasons = append(reasons, name+": "+err.Error())
	}
	if err := ctx.Err(); err != nil {
		return nil, reasons, err
	}
	return nil, reasons, fmt.Errorf("%w works here (%s); repair one of them, or ask for docker, or for host, which confines nothing",
		ErrNone, strings.Join(reasons, "; "))
}

func names(engines []Engine) string {
	var out []string
	for _, e := range engines {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
