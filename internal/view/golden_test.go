package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// TestGolden compares what every fold shows of every log with what a person has
// read and found right. Run it with -update after a change, and read the diff.
func TestGolden(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.name, func(t *testing.T) {
			got := report(t, f.log)
			if *update {
				if err := os.MkdirAll(filepath.Dir(f.golden), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(f.golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(f.golden)
			if err != nil {
				t.Fatalf("%v (run with -update to write it)", err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", f.golden, diff)
			}
		})
	}
}

// report shows a log through every fold: how the small ones change over time,
// and what each comes to.
func report(t *testing.T, log []event.Event) string {
	var b strings.Builder
	var card view.Card
	var timeline view.Timeline
	var cost view.Cost
	var result view.Result
	var session view.Session
	var course, agreement, talk strings.Builder
	var stands string
	var phases, sentence string
	for _, e := range log {
		card, timeline, cost, result = card.Apply(e), timeline.Apply(e), cost.Apply(e), result.Apply(e)
		if session = session.Apply(e); session.ID != "" && sessionLine(session) != stands {
			stands = sessionLine(session)
			fmt.Fprintf(&talk, "%3d %s\n", e.Seq, stands)
		}
		if s := cardLine(card); s != phases {
			phases = s
			fmt.Fprintf(&course, "%3d %s\n", e.Seq, s)
		}
		if s := card.Ballot.Sentence(); s != sentence {
			sentence = s
			fmt.Fprintf(&agreement, "%3d %s\n", e.Seq, s)
		}
	}
	section := func(name, text string) { fmt.Fprintf(&b, "-- %s --\n%s", name, text) }
	if team := teamOver(log); team != "" {
		section("team over time", team)
		section("timeline", timelineText(timeline))
		section("feed", feedText(log))
		section("team", indented(t, teamAfter(log, len(log))))
		row := view.RowOf(log[0], log[len(log)-1]).WithTeam(teamAfter(log, len(log)))
		section("row", indented(t, row)+row.Title(30)+"\n")
		section("audit", auditText(log))
		section("cost", indented(t, cost))
		return b.String()
	}
	if job := jobOver(log); job != "" {
		section("job over time", job)
		section("timeline", timelineText(timeline))
		section("job", indented(t, jobAfter(log, len(log))))
		row := view.RowOf(log[0], log[len(log)-1]).WithJob(jobAfter(log, len(log)))
		section("row", indented(t, row)+row.Title(30)+"\n")
		section("audit", auditText(log))
		section("cost", indented(t, cost))
		return b.String()
	}
	if session.ID != "" {
		section("session over time", talk.String())
		section("timeline", timelineText(timeline))
		section("session", indented(t, session))
		section("row", indented(t, view.RowOf(log[0], log[len(log)-1]).With(session)))
		if session.Talk != nil {
			section("cost", indented(t, cost)+fmt.Sprintf("left %s", indented(t, session.Left())))
		}
		return b.String()
	}
	section("card over time", course.String())
	section("ballot over time", agreement.String())
	section("timeline", timelineText(timeline))
	section("card", indented(t, card))
	section("steering", steering(log))
	section("cost", indented(t, cost)+fmt.Sprintf("held %+v left %s\n", cost.Held(), indented(t, cost.Left())))
	row := view.RowOf(log[0], log[len(log)-1])
	section("row", indented(t, row)+row.Title(30)+"\n")
	section("result", indented(t, result.RunResult()))
	return b.String()
}

// steering shows what people say to a run, as it changes.
func steering(log []event.Event) string {
	var b strings.Builder
	var messages view.Messages
	var jobs view.Shells
	was := ""
	for _, e := range log {
		messages, jobs = messages.Apply(e), jobs.Apply(e)
		now := ""
		for _, m := range messages.All {
			now += fmt.Sprintf("      %q %s\n", m.Text.Text, m.Fate())
		}
		for _, j := range jobs.All {
			now += fmt.Sprintf("      %s of %s, %s: %s %s\n", j.ID, j.Label, j.Command, j.State, j.How)
		}
		if now != was {
			fmt.Fprintf(&b, "%3d\n%s", e.Seq, now)
		}
		was = now
	}
	if unread := messages.Unread(); len(unread) > 0 {
		fmt.Fprintf(&b, "unread: %v\n", unread)
	}
	return b.String()
}

func cardLine(c view.Card) string {
	s := string(c.Phase)
	if c.Status != "" {
		s += "/" + string(c.Status)
	}
	if c.Paused {
		s += " paused"
	}
	for _, g := range c.Gates {
		s += " ?" + g.Gate
	}
	for _, l := range c.Agents {
		s += fmt.Sprintf(" | %s %s %d.%d", l.Label, l.State, l.Round, l.Take)
		if o, ok := l.Tool(); ok {
			s += " " + view.OneLine(o.Name)
		}
		if l.Late {
			s += " late"
		}
	}
	return s
}

func sessionLine(s view.Session) string {
	line := fmt.Sprintf("%s, %d turns", s.State(), s.Turns.Len())
	if s.Running != "" {
		line += " " + string(s.Running)
	}
	for _, g := range s.Gates {
		line += fmt.Sprintf(" ?%s.%d", g.Gate, g.Revision)
	}
	if s.Talk != nil {
		line += fmt.Sprintf(" (%s) [%s | %s]", s.Phase(), s.Bar().Project, s.Bar().Words("", 40))
		for _, h := range s.Talk.Held {
			line += " held " + h.ID
		}
	}
	return line + " " + view.OneLine(s.Title().Text)
}

func timelineText(tl view.Timeline) string {
	var b strings.Builder
	for _, i := range tl.All(0) {
		fmt.Fprintf(&b, "%3d %s %-11s %s\n", i.Seq, i.At.Format("15:04:05"), i.Kind, i.Line())
	}
	return b.String()
}

func indented(t *testing.T, v any) string {
	t.Helper()
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// An exported log rebuilds the same screens.
func TestExportShowsTheSame(t *testing.T) {
	for _, f := range fixtures(t) {
		var ndjson strings.Builder
		for _, e := range f.log {
			ndjson.WriteString(marshal(t, e) + "\n")
		}
		log, err := parseNDJSON(ndjson.String())
		if err != nil {
			t.Fatalf("%s: %v", f.name, err)
		}
		if diff := cmp.Diff(report(t, f.log), report(t, log)); diff != "" {
			t.Errorf("%s (-log +export):\n%s", f.name, diff)
		}
	}
}
