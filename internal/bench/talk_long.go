package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/internal/app"
	"conclave/internal/config"
	"conclave/internal/event"
	"conclave/internal/eventlog"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/flow"
	"conclave/internal/talk"
)

// hostConfig is a team whose agent can be talked to; its model takes no time.
const hostConfig = `agents:
  - {id: ada, backend: {type: script, script: team.script.yaml}}
orchestrator:
  interactive_mode: {require_approval: false, backend: {type: script, script: host.script.yaml}}
`

const hostScript = `name: host
steps:
  - do: [{say: "Here is what I think of that."}]
`

const teamScript = `name: team
steps:
  - do: [{answer: "Forty-two."}]
`

// furnish puts the configuration of a conversation into a directory and returns
// its file.
func furnish(dir string) (string, error) {
	file := filepath.Join(dir, "team.yaml")
	return file, errors.Join(
		os.WriteFile(file, []byte(hostConfig), 0o600),
		os.WriteFile(filepath.Join(dir, "host.script.yaml"), []byte(hostScript), 0o600),
		os.WriteFile(filepath.Join(dir, "team.script.yaml"), []byte(teamScript), 0o600))
}

// begin makes a session with the agent of a directory.
func begin(ctx context.Context, dir string) (event.FlowID, error) {
	file, err := furnish(dir)
	if err != nil {
		return "", err
	}
	a, err := app.Open(dir)
	if err != nil {
		return "", err
	}
	id, err := a.Begin(ctx, event.SessionStarted{Kind: event.SessionInteractive, Config: file})
	return id, errors.Join(err, a.Close())
}

// A scribe writes a conversation as its driver would: the same facts and
// decisions, and checkpoints as often, but many turns to a transaction.
type scribe struct {
	d    talk.Session
	last event.Event
	// to gets what was written.
	to func([]event.Event) error
}

// hostModel is what the model of the conversations calls itself.
const hostModel = "script:host"

func (s *scribe) write(facts ...event.Fact) error {
	events, _ := flow.Advance(&s.d, func(f event.Fact) event.Event {
		at := s.last.At.Add(time.Second)
		s.last = event.Event{Flow: s.last.Flow, Seq: s.last.Seq + 1, At: at, Fact: f}
		return s.last
	}, facts...)
	return s.to(events)
}

// open staffs the session.
func (s *scribe) open(first event.Event) error {
	s.d.Step(first)
	s.last = first
	return s.write(event.Fact{ID: "staffed/1", Body: event.Staffed{
		Seat:  event.Seat{Agent: config.InteractiveID, Backend: "script", Model: hostModel},
		Rules: event.SessionRules{Version: event.SessionRulesVersion, MaxCalls: 100, MaxAttempts: 3, MaxRuns: 1},
	}})
}

// turn writes turn n: something said, a tool used in every other turn, and a
// reply of some sentences with the provider's own form of it. With sum the
// conversation until then is put into fewer words first.
func (s *scribe) turn(n int, sum bool) error {
	t := event.Turn{Round: n, Take: 1}
	key := t.Key(config.InteractiveID)
	fact := func(what string, b event.Body) event.Fact {
		return event.Fact{ID: key + "/" + what, Agent: config.InteractiveID, Body: b}
	}
	said := event.Fact{ID: fmt.Sprintf("said/%d", n), Body: event.Said{Text: event.Inline(fmt.Sprintf("Question %d: %s", n, strings.Repeat("and what of it? ", 6)))}}
	facts := []event.Fact{said}
	if sum {
		through := event.Turn{Round: n - 1, Take: 1}.Key(config.InteractiveID) + "/call/2"
		facts = append(facts, fact("compacted", event.Compacted{Turn: t, Messages: 1000, Summary: event.Inline(strings.Repeat("They spoke of it. ", 100)), Through: through}))
	}
	if n%2 == 0 {
		call := event.ToolCall{ID: fmt.Sprintf("call-%d", n), Name: "read", Input: []byte(`{"path":"notes.md"}`)}
		facts = append(facts,
			fact("call/1", called(t, 1, "Let me look.", call)),
			fact("tool", event.ToolReturned{Turn: t, Call: call.ID, Name: call.Name, Result: event.Inline(strings.Repeat("a line of notes\n", 20))}))
	}
	return s.write(append(facts,
		fact("call/2", called(t, 2, strings.Repeat("Here is what I think of that. ", 15))),
		fact("concluded", event.Concluded{Turn: t}))...)
}

func called(t event.Turn, n int, text string, tools ...event.ToolCall) event.Called {
	return event.Called{
		Turn: t, Call: n, Model: hostModel, Backend: "script", Text: event.Inline(text), Tools: tools,
		Native: event.Inline(`{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]}`), Usage: event.Usage{Input: 1000, Output: 100},
	}
}

// longTalk writes a conversation of n turns into the log of a directory. It is
// put into fewer words every sum turns; zero is never.
func longTalk(ctx context.Context, dir string, n, sum int) (event.FlowID, error) {
	id, err := begin(ctx, dir)
	if err != nil {
		return "", err
	}
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	lease, err := log.Acquire(ctx, id, false)
	if err != nil {
		return "", err
	}
	defer lease.Release()
	var batch []event.Event
	s := &scribe{to: func(events []event.Event) error { batch = append(batch, events...); return nil }}
	keep, kept := app.Keep(log, id), uint64(0)
	flush := func() error {
		if err := log.Commit(ctx, lease, batch); err != nil {
			return err
		}
		keep(batch)
		batch = nil
		if s.last.Seq < kept+2000 {
			return nil
		}
		kept = s.last.Seq
		data, err := s.d.Checkpoint()
		if err != nil {
			return err
		}
		return log.SaveCheckpoint(ctx, id, eventlog.Checkpoint{Name: "decider", Version: s.d.CheckpointVersion(), Seq: s.last.Seq, Data: data})
	}
	for e, err := range log.Read(ctx, id, 1) {
		if err != nil {
			return "", err
		}
		keep([]event.Event{e})
		if err := s.open(e); err != nil {
			return "", err
		}
	}
	for i := 1; i <= n; i++ {
		if err := s.turn(i, sum > 0 && i > 1 && i%sum == 1); err != nil {
			return "", err
		}
		if len(batch) >= 200 {
			if err := flush(); err != nil {
				return "", err
			}
		}
	}
	return id, flush()
}
