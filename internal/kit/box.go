package kit

import (
	"context"
	"fmt"
	"regexp"
	"sync"

	"conclave/internal/gear"
	"conclave/internal/policy"
	"conclave/internal/sandbox"
)

// box is a sandbox box that is opened when a command first needs it, and again
// when the place has changed and nothing runs in it.
type box struct {
	engine sandbox.Engine

	mu      sync.Mutex
	spec    sandbox.Spec
	open    sandbox.Box
	stale   bool // the place has changed since it was opened
	running int
	closed  bool
}

var _ sandbox.Box = (*box)(nil)

// Start implements [sandbox.Box].
func (b *box) Start(ctx context.Context, c sandbox.Command) (sandbox.Process, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("the sandbox is closed")
	}
	if b.open != nil && b.stale && b.running == 0 {
		err := b.open.Close()
		b.open = nil
		if err != nil {
			return nil, fmt.Errorf("close the sandbox: %w", err)
		}
	}
	if b.open == nil {
		opened, err := b.engine.Open(ctx, b.spec)
		if err != nil {
			return nil, fmt.Errorf("open the sandbox: %w", err)
		}
		b.open, b.stale = opened, false
	}
	p, err := b.open.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	b.running++
	return &process{Process: p, box: b}, nil
}

// process counts itself out when it has ended.
type process struct {
	sandbox.Process
	box  *box
	once sync.Once
}

func (p *process) Wait() (int, error) {
	exit, err := p.Process.Wait()
	p.once.Do(func() {
		p.box.mu.Lock()
		defer p.box.mu.Unlock()
		p.box.running--
	})
	return exit, err
}

// move has the next command that finds nothing running run in another place.
func (b *box) move(p policy.Place) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spec.Place, b.stale = p, true
}

// Close implements [sandbox.Box].
func (b *box) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.open == nil {
		return nil
	}
	err := b.open.Close()
	b.open = nil
	return err
}

// environment is what commands are given of the user's environment: what the
// configuration names, and nothing else.
func environment(s gear.Shell, lookup func(string) (string, bool)) ([]string, error) {
	var out []string
	for _, name := range s.Env {
		if v, ok := lookup(name); ok {
			out = append(out, name+"="+v)
		}
	}
	for name, value := range s.Set {
		v, err := Expand(value, lookup)
		if err != nil {
			return nil, fmt.Errorf("variable %s for commands: %w", name, err)
		}
		out = append(out, name+"="+v)
	}
	return out, nil
}

// references are ${NAME}, and $${ which stands for the characters themselves.
var references = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\$\{|\$\{[A-Za-z_][A-Za-z0-9_]*\}`)
})

// Expand puts the user's variables in the place of ${NAME}.
func Expand(s string, lookup func(string) (string, bool)) (string, error) {
	var missing error
	out := references().ReplaceAllStringFunc(s, func(ref string) string {
		if ref == "$${" {
			return "${"
		}
		name := ref[2 : len(ref)-1]
		v, ok := lookup(name)
		if !ok {
			missing = fmt.Errorf("${%s} is not set", name)
		}
		return v
	})
	return out, missing
}
