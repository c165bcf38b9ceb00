package agent_test

import (
	"testing"
	"testing/synctest"

	"conclave/internal/agent/agenttest"
	"conclave/internal/backend/script"
	"conclave/internal/backend/script/demo"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
)

// The demo from its first event to its last, in both modes, seconds of it in no
// time at all.
func TestDemoRun(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rules  event.Rules
		winner event.AgentID
	}{
		{"full", event.Defaults(event.Mode{}), "pragmatist"},
		{"quick", event.Defaults(event.Mode{Quick: true}), "theorist"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var cast []agenttest.Actor
				for _, a := range demo.Agents() {
					cast = append(cast, actor(event.AgentID(a.ID), script.New(a.Script, script.Options{})))
				}
				f := agenttest.Finished(t, agenttest.New(tt.rules, demo.Task, cast...).Play(t, mem.New()))
				if f.Status != event.StatusSuccess || f.StoppedBy != event.StoppedByVotes || f.Winner != tt.winner || f.Answer.Empty() {
					t.Errorf("ended as %+v", f)
				}
			})
		})
	}
}
