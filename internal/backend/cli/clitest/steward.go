package clitest

import (
	"context"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/policy"
)

// A Steward answers with functions, each of which may be nil, and keeps what it was
// told.
type Steward struct {
	OnCall   func(context.Context, event.ToolCall) backend.ToolResult
	OnPermit func(context.Context, event.ToolCall, policy.Action) (bool, string, error)
	OnBegan  func(event.ToolCall) error
	OnEnded  func(backend.ToolResult) (string, error)

	mu     sync.Mutex
	calls  []event.ToolCall
	asked  []policy.Action
	began  []event.ToolCall
	ended  []backend.ToolResult
	inCall int
}

var _ backend.Steward = (*Steward)(nil)

func (s *Steward) Call(ctx context.Context, c event.ToolCall) backend.ToolResult {
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.inCall++
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inCall--
	}()
	r := backend.ToolResult{Text: "ok"}
	if s.OnCall != nil {
		r = s.OnCall(ctx, c)
	}
	r.Call, r.Name = c.ID, c.Name
	return r
}

func (s *Steward) Permit(ctx context.Context, c event.ToolCall, a policy.Action) (bool, string, error) {
	s.mu.Lock()
	s.asked = append(s.asked, a)
	s.mu.Unlock()
	if s.OnPermit == nil {
		return true, "", nil
	}
	return s.OnPermit(ctx, c, a)
}

func (s *Steward) Began(_ context.Context, c event.ToolCall) error {
	s.mu.Lock()
	s.began = append(s.began, c)
	s.mu.Unlock()
	if s.OnBegan == nil {
		return nil
	}
	return s.OnBegan(c)
}

func (s *Steward) Ended(_ context.Context, r backend.ToolResult) (string, error) {
	s.mu.Lock()
	s.ended = append(s.ended, r)
	s.mu.Unlock()
	if s.OnEnded == nil {
		return "", nil
	}
	return s.OnEnded(r)
}

// Calls are the calls of host tools so far.
func (s *Steward) Calls() []event.ToolCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]event.ToolCall(nil), s.calls...)
}

// Asked is what permission was asked for so far.
func (s *Steward) Asked() []policy.Action {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]policy.Action(nil), s.asked...)
}

// Tools are what was reported of the program's own tools so far.
func (s *Steward) Tools() (began []event.ToolCall, ended []backend.ToolResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]event.ToolCall(nil), s.began...), append([]backend.ToolResult(nil), s.ended...)
}

// Busy is how many calls are under way: none when a turn is over.
func (s *Steward) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inCall
}
