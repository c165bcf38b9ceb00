package view_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"conclave/internal/event"
	"conclave/internal/view"
)

func TestResultBlobs(t *testing.T) {
	var r view.Result
	for _, e := range mustEvents(t, opening("")+strings.Join([]string{
		`+1s bob answered b1 {"round":1,"take":1,"revision":1,"content":{"blob":"beef","size":9000}}`,
		`+1s ada answered a1 {"round":1,"take":1,"revision":1,"content":{"text":"short & <sweet>","size":15}}`,
		`+1s ada answered a2 {"round":2,"take":1,"revision":2,"content":{"blob":"cafe","size":5000}}`,
		`+1s - finished f1 {"status":"success","stopped_by":"votes","answer":{"blob":"beef","size":9000},"winner":"bob"}`,
	}, "\n")) {
		r = r.Apply(e)
	}
	raw := r.RunResult()
	if got, want := raw.Blobs(), []event.Hash{"beef", "cafe"}; !reflect.DeepEqual(got, want) {
		t.Fatalf("needs %v, want %v", got, want)
	}
	part := raw.Fill(map[event.Hash]string{"beef": "the <long> one"})
	if got := part.Blobs(); !reflect.DeepEqual(got, []event.Hash{"cafe"}) {
		t.Errorf("still needs %v", got)
	}
	full := part.Fill(map[event.Hash]string{"cafe": "the second"})
	if len(raw.Blobs()) != 2 || len(part.Blobs()) != 1 {
		t.Error("filling in changed the result it was asked of")
	}
	var wire struct {
		FinalAnswer string `json:"final_answer"`
		Answers     []struct{ Agent, Content string }
	}
	if err := json.Unmarshal([]byte(marshal(t, full)), &wire); err != nil {
		t.Fatal(err)
	}
	if wire.FinalAnswer != "the <long> one" || len(wire.Answers) != 3 || wire.Answers[0].Content != "short & <sweet>" ||
		wire.Answers[1].Content != "the second" || wire.Answers[2].Agent != "bob" {
		t.Errorf("reads as %+v", wire)
	}
	var again view.RunResult
	if err := json.Unmarshal([]byte(marshal(t, raw)), &again); err != nil {
		t.Fatal(err)
	}
	if got, want := marshal(t, again), marshal(t, raw); got != want {
		t.Errorf("does not survive the wire\n got %s\nwant %s", got, want)
	}
}

// A budget's account holds, releases and forfeits.
func TestCostAccount(t *testing.T) {
	lines := []string{
		`+0s ada assigned s1 {"round":1,"take":1}`,
		`+0s ada requested q1 {"round":1,"take":1,"amount":{"tokens":100}}`,
		`+0s ada granted g1 {"request":"q1"}`,
		`+0s ada called c1 {"round":1,"take":1,"call":1,"usage":{"input":50,"output":20,"cost":7},"request":"q1"}`,
		`+0s ada requested q2 {"round":1,"take":1,"amount":{"tokens":200}}`,
		`+0s ada granted g2 {"request":"q2"}`,
		`+0s bob requested q3 {"round":0,"take":0,"amount":{"tokens":300},"child":"run-2"}`,
		`+0s bob granted g3 {"request":"q3"}`,
		`+0s cy requested q4 {"round":1,"take":1,"amount":{"tokens":999}}`,
		`+0s cy refused r4 {"ref":"q4","code":"budget","why":"too much","over":true}`,
		`+0s ada interrupted i1 {"round":1,"take":1,"why":"x"}`,
		`+0s ada called c2 {"round":1,"take":1,"call":2,"usage":{"input":10,"cost":1},"request":"q2"}`,
		`+0s bob settled e3 {"request":"q3","spent":{"tokens":250,"cost":5}}`,
		`+0s cy failed f1 {"round":1,"take":1,"code":"x","usage":{"input":4}}`,
		`+0s cy failed f2 {"round":1,"take":2,"code":"x"}`,
		`+0s bob settled e5 {"request":"q5","spent":{"tokens":-50}}`,
	}
	type account struct{ spent, held, left int64 }
	var got []account
	var c view.Cost
	for _, e := range mustEvents(t, opening(`,"budget":{"tokens":1000}`)+strings.Join(lines, "\n"))[1:] {
		if len(got) == 0 {
			c = c.Apply(mustEvents(t, opening(`,"budget":{"tokens":1000}`))[0])
		}
		c = c.Apply(e)
		got = append(got, account{c.Spent.Tokens, c.Held().Tokens, *c.Left().Tokens})
	}
	want := []account{
		{0, 0, 1000}, {0, 0, 1000}, {0, 100, 900}, {70, 0, 930},
		{70, 0, 930}, {70, 200, 730}, {70, 200, 730}, {70, 500, 430},
		{70, 500, 430}, {70, 500, 430},
		{270, 300, 430}, // what the cut turn held is forfeited
		{270, 300, 430}, // and its late report is not counted twice
		{520, 0, 480}, {524, 0, 476}, {524, 0, 476},
		{524, 0, 476}, // less than nothing is nothing
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\n got %v\nwant %v", got, want)
	}
	if c.Forfeited.Tokens != 200 || c.Children.Tokens != 250 || c.Children.Cost != 5 {
		t.Errorf("forfeited %+v, children %+v", c.Forfeited, c.Children)
	}
	if a := c.Agent("ada"); a.Calls != 2 || a.Input != 60 || a.Cost != 8 {
		t.Errorf("ada has used %+v", a)
	}
	if c.Total.Calls != 3 || c.Total.Input != 64 {
		t.Errorf("in all %+v", c.Total)
	}
	if b := (view.Cost{}).Left(); b.Limited() {
		t.Errorf("without a ceiling %+v is left", b)
	}
}

func TestRowOf(t *testing.T) {
	log := mustEvents(t, opening("")+"+90s - resumed r1 {\"down\":\"1s\",\"epoch\":2}\n+30s - finished f1 {\"status\":\"timeout\",\"stopped_by\":\"deadline\",\"error\":\"x\"}")
	r := view.RowOf(log[0], log[1])
	if r.Finished || r.Status != "" || r.Duration.String() != "1m30s" || !r.Ended.IsZero() || r.Mode != "three agents, refining" || len(r.Agents) != 3 {
		t.Errorf("in the middle: %+v", r)
	}
	r = view.RowOf(log[0], log[2])
	if !r.Finished || r.Status != event.StatusTimeout || r.Duration.String() != "2m0s" || r.Title(10) != "t" {
		t.Errorf("at the end: %+v", r)
	}
	r = view.RowOf(log[1], log[0])
	if r.Finished || r.Duration != 0 || r.ID != "run-1" || r.Title(10) != "" {
		t.Errorf("of what is no run: %+v", r)
	}
	r.Task = event.Content{Blob: "beef", Size: 4321}
	if got := r.Title(40); got != "(4.3 kB of text)" {
		t.Errorf("a task kept elsewhere: %q", got)
	}
}
