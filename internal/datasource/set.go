package datasource

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A Set is the sources of one job. Each is opened when it is first needed, and
// tried again the next time if that failed: a database that is down costs a call
// and not the job. It may be used concurrently.
type Set struct {
	sources []Source
	env     Env
	slots   map[string]*slot
}

// A slot is a source that may be open. Whoever holds its turn may open it.
type slot struct {
	turn   chan struct{}
	conn   Conn
	closed bool
}

// NewSet is a set of sources, none of which is open. Their names have to differ.
func NewSet(sources []Source, env Env) (*Set, error) {
	s := &Set{sources: slices.Clone(sources), env: env, slots: map[string]*slot{}}
	for _, x := range sources {
		if s.slots[x.Name] != nil {
			return nil, fmt.Errorf("two datasources are called %s", x.Name)
		}
		s.slots[x.Name] = &slot{turn: make(chan struct{}, 1)}
	}
	return s, nil
}

// Sources are the sources of the set.
func (s *Set) Sources() []Source { return slices.Clone(s.sources) }

// Source is the one of a name.
func (s *Set) Source(name string) (Source, bool) {
	i := slices.IndexFunc(s.sources, func(x Source) bool { return x.Name == name })
	if i < 0 {
		return Source{}, false
	}
	return s.sources[i], true
}

// Conn is the open source of a name.
func (s *Set) Conn(ctx context.Context, name string) (Conn, error) {
	x, ok := s.Source(name)
	if !ok {
		return nil, fmt.Errorf("there is no datasource %q", name)
	}
	slot := s.slots[name]
	select {
	case slot.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-slot.turn }()
	if slot.closed {
		return nil, fmt.Errorf("the datasource %s is closed", name)
	}
	if slot.conn == nil {
		conn, err := Open(ctx, x, s.env)
		if err != nil {
			return nil, err
		}
		slot.conn = conn
	}
	return slot.conn, nil
}

// Close closes what is open, once no calls are under way.
func (s *Set) Close() error {
	var all []error
	for _, x := range s.sources {
		slot := s.slots[x.Name]
		slot.turn <- struct{}{}
		if slot.conn != nil && !slot.closed {
			all = append(all, slot.conn.Close())
		}
		slot.closed = true
		<-slot.turn
	}
	return errors.Join(all...)
}
