package talk_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/talk"
)

// after plays a transcript.
func after(t *testing.T, script string) *stage {
	t.Helper()
	s := newStage()
	s.Play(t, script)
	return s
}

func (s *stage) then(t *testing.T, lines ...string) *stage {
	t.Helper()
	for _, l := range lines {
		if err := s.Happen(l); err != nil {
			t.Fatalf("%s: %v", l, err)
		}
	}
	return s
}

const launching = `
start interactive
staff
say "go"
host calls "" c1=launch_run
host wants c1 "look" agents=ada
`

// TestPinResult: a run's result is pinned by its own id, before its agent has
// taken it in as well as after, and stays when the conversation is put into fewer
// words. DZ-07.
func TestPinResult(t *testing.T) {
	for _, early := range []bool{true, false} {
		s := after(t, launching)
		pin := fmt.Sprintf("pin returned/%s", s.runs[0].Run)
		s.then(t, pin) // there is no result yet
		if last := s.Log[len(s.Log)-1]; event.Kind(last.Body) != "refused" {
			t.Errorf("what is not there is pinned: %s", last.ID)
		}
		s.then(t, `run returns "a lot"`)
		if early {
			s.then(t, pin, `host returns c1 "a lot"`)
		} else {
			s.then(t, `host returns c1 "a lot"`, pin)
		}
		s.then(t, `host calls "fine"`, `host compacts turn/host/1.1/call/2 "all of it"`)
		_, pins, history := s.D.History()
		if len(pins) != 1 || pins[0].Returned == nil || pins[0].Returned.Result.Text != "a lot" || len(history) != 0 {
			t.Errorf("early %t: %s", early, known(nil, pins, history))
		}
	}
}

// TestWorkIsNotChanged: what a command was given of the conversation stays as it
// was, whatever happens in the session while it is carried out.
func TestWorkIsNotChanged(t *testing.T) {
	s := after(t, launching)
	s.then(t, `run returns "a lot"`, `host returns c1 "a lot"`, `host concludes`, `say "more"`, "pin said/1", "crash")
	w := s.work
	before := fmt.Sprintf("%s|%v", known(w.Summary, w.Pins, w.History), w.Wants)
	s.then(t, "unpin said/1", "pin said/2", `host calls "x" c2=launch_run`, `say "hm"`, `host wants c2 "look again"`,
		"cancel", "run returns cancelled", "host hears said/3", `host compacts said/3 "all"`, "unpin said/2", `host calls "y"`)
	if got := fmt.Sprintf("%s|%v", known(w.Summary, w.Pins, w.History), w.Wants); got != before {
		t.Errorf("is  %s\nwas %s", got, before)
	}
}

// TestForkDrawsTheSameNames: a log that was copied into another session replays
// there, since its names are drawn from the first of its line; and what either
// wants afterwards has a name of its own.
func TestForkDrawsTheSameNames(t *testing.T) {
	s := after(t, launching)
	s.then(t, `run returns "a lot"`, `host returns c1 "a lot"`, `host concludes`)
	fork := slices.Clone(s.Log)
	for i := range fork {
		fork[i].Flow = "session-2"
		if b, ok := fork[i].Body.(event.SessionStarted); ok {
			b.Fork, b.Origin, b.Through = "session-1", "session-1", uint64(len(fork))
			fork[i].Body = b
		}
	}
	if problems := talk.Check(fork); len(problems) > 0 {
		t.Fatal(problems)
	}
	other := newStage()
	other.Log, other.Now = fork, s.Now.Add(time.Microsecond)
	other.ID("said") // the first is in the log
	flow.Fold(other.D, fork)
	for _, x := range []*stage{s, other} {
		x.then(t, `say "go"`, `host wants c1 "look" agents=ada`)
	}
	if a, b := s.runs[0].Run, other.runs[0].Run; a == b {
		t.Errorf("both sessions launch %s", a)
	}
}

// TestBoundedMemory: what is over is forgotten, so that a session which has gone
// on for long is not slow to take up.
func TestBoundedMemory(t *testing.T) {
	s := after(t, "start client\nstaff runs=2\n")
	for i := range 500 {
		s.then(t, fmt.Sprintf(`want w%d "look" agents=ada`, i), `run returns "seen"`)
	}
	if n := len(s.D.Wants()); n == 0 || n > 100 {
		t.Errorf("%d wanted runs are remembered", n)
	}
	p, err := s.D.Checkpoint()
	if err != nil || len(p) > 100<<10 {
		t.Errorf("a checkpoint of %d bytes, %v", len(p), err)
	}
}

// TestManyMessages: a command shares the conversation with the state, however long
// that has become.
func TestManyMessages(t *testing.T) {
	s := after(t, "start interactive\nstaff calls=100000\n")
	for range 300 {
		s.then(t, `say "x"`, `host calls "y"`, "host concludes")
		s.Out.Reset()
	}
	_, _, history := s.D.History()
	if len(history) < 600 {
		t.Fatalf("%d entries", len(history))
	}
	s.then(t, `say "x"`)
	if n := testing.AllocsPerRun(20, func() { s.D.Pending() }); n > 10 {
		t.Errorf("%v allocations to say what is pending", n)
	}
}

// TestHears: what may come from anybody is never what an agent or the session
// itself has to say.
func TestHears(t *testing.T) {
	var s talk.Session
	hears := map[string]bool{}
	for _, k := range []event.Body{
		event.Said{}, event.Withdrawn{}, event.Replied{}, event.Amended{}, event.CancelRequested{}, event.Held{}, event.Waived{},
		event.Pinned{}, event.Archived{}, event.Renamed{}, event.Opened{}, event.Published{}, event.Wanted{},
		event.Outlined{}, event.Linked{}, event.Tiered{},
		event.Staffed{}, event.Assigned{}, event.Launched{}, event.Returned{}, event.Asked{}, event.Closed{}, event.Granted{},
		event.Called{}, event.ToolReturned{}, event.Told{}, event.Concluded{}, event.Failed{}, event.Requested{}, event.Wished{}, event.Compacted{},
	} {
		if s.Hears(k) && s.Decides(k) {
			t.Errorf("%s is both heard and decided", event.Kind(k))
		}
		hears[event.Kind(k)] = s.Hears(k)
	}
	want := []string{"amended", "archived", "cancel_requested", "held", "linked", "opened", "outlined", "pinned", "renamed", "replied", "said", "tiered", "waived", "wanted", "withdrawn"}
	var got []string
	for k, ok := range hears {
		if ok {
			got = append(got, k)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestClientCannotSpeakForAnAgent, nor anybody by the inbox of a session with one:
// a wanted run there is refused.
func TestClientCannotSpeakForAnAgent(t *testing.T) {
	s := after(t, "start interactive\nstaff\nsay \"go\"\n")
	s.then(t, `want w1 "look"`)
	b, ok := s.Log[len(s.Log)-1].Body.(event.Refused)
	if !ok || b.Code != "client" || s.D.Phase() != talk.Chatting {
		t.Errorf("decided %+v", s.Log[len(s.Log)-1])
	}
}

// TestReadersBeforeAnything: a session of which nothing is known yet answers.
func TestReadersBeforeAnything(t *testing.T) {
	var s talk.Session
	_, started := s.Started()
	_, staffed := s.Staffed()
	if started || staffed || s.Phase() != talk.Idle || !s.AtRest() || s.Done() || len(s.Pending())+len(s.Due()) > 0 {
		t.Error("something goes on in a session that has not begun")
	}
	if _, ok := s.Wake(); ok {
		t.Error("it wants to be woken")
	}
}

// TestPictureAlone: a picture, or a file, says something without words.
func TestPictureAlone(t *testing.T) {
	s := after(t, "start interactive\nstaff\n")
	for i, b := range []event.Said{{Images: []string{"/shot.png"}}, {Paths: []event.ContextPath{{Path: "/src"}}}, {Text: event.Inline(" \n")}} {
		s.Submit(event.Fact{ID: fmt.Sprint("alone/", i), Body: b})
		refused := slices.ContainsFunc(s.Log, func(e event.Event) bool { return e.ID == fmt.Sprint("refused/alone/", i) })
		if refused != (i == 2) {
			t.Errorf("%+v: refused %t", b, refused)
		}
	}
}
