package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/internal/agent"
	"conclave/internal/agent/agenttest"
	"conclave/internal/backend"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog/mem"
	"conclave/internal/talk"
	"conclave/internal/tool"

	"github.com/google/go-cmp/cmp"
)

// A parlour is a session that a person talks in. Programs come and go, the log
// stays.
type parlour struct {
	t    *testing.T
	s    *agenttest.Session
	log  *mem.Log
	said int
	stop context.CancelFunc
	left chan error
}

// parlours begins a session with the agent.
func parlours(t *testing.T, host agenttest.Actor) *parlour {
	return &parlour{t: t, s: agenttest.Talk(host), log: mem.New()}
}

// open starts a program that drives the session.
func (p *parlour) open() {
	ctx, stop := context.WithCancel(context.Background())
	p.stop, p.left = stop, make(chan error, 1)
	go func() { p.left <- p.s.Drive(ctx, p.t, p.log) }()
	synctest.Wait()
}

// leave ends the program, whatever it is in the middle of.
func (p *parlour) leave() {
	p.t.Helper()
	p.stop()
	if err := <-p.left; !errors.Is(err, context.Canceled) {
		p.t.Errorf("the session was left: %v", err)
	}
}

// tell sends something, waits until nothing moves, and returns its id.
func (p *parlour) tell(b event.Body) string {
	p.t.Helper()
	p.said++
	id := fmt.Sprintf("said/%d", p.said)
	agenttest.Send(p.t, p.log, id, b)
	synctest.Wait()
	return id
}

func (p *parlour) say(text string) string {
	return p.tell(event.Said{Text: event.Inline(text), By: "ann"})
}

// asked is the newest question.
func (p *parlour) asked() event.Asked {
	p.t.Helper()
	var out event.Asked
	for _, e := range agenttest.Events(p.t, p.log) {
		if a, ok := e.Body.(event.Asked); ok {
			out = a
		}
	}
	if out.Gate == "" {
		p.t.Fatalf("nothing was asked:\n%s", agenttest.Transcript(agenttest.Events(p.t, p.log)))
	}
	return out
}

func (p *parlour) answer(choice, text string) {
	a := p.asked()
	p.tell(event.Replied{Gate: a.Gate, Choice: choice, Text: text, Revision: a.Revision, By: "ann"})
}

// sound ends the program and proves the log.
func (p *parlour) sound() []event.Event {
	p.t.Helper()
	p.leave()
	return agenttest.Sound(p.t, p.log)
}

// reacts is a speaker that looks at nothing but what it is sent: at how many
// replies it has given to the last message, and at the last results.
func reacts(f func(said string, replies int, last []backend.ToolResult) reply) *speaker {
	return &speaker{speak: func(_ int, in backend.Input) reply {
		n := 0
		var last []backend.ToolResult
		for _, m := range in.Messages {
			switch m.From {
			case backend.User:
				n = 0
			case backend.Assistant:
				n++
			case backend.Tool:
				last = m.Results
			}
		}
		return f(words(in), n, last)
	}}
}

// launches calls launch_run, and then says what came of it.
func launches(id, input string) *speaker {
	return reacts(func(_ string, n int, last []backend.ToolResult) reply {
		if n == 0 {
			return called(id, event.ToolLaunchRun, input)
		}
		return says("It came to: " + last[len(last)-1].Text)
	})
}

// called is one call under an id of its own.
func called(id, name, input string) reply {
	return reply{deltas: []backend.Delta{{Call: &event.ToolCall{ID: id, Name: name, Input: backend.Arguments(input)}}}}
}

// native has a reply come in the provider's own form as well.
type native struct{ *speaker }

func (n native) Turn(ctx context.Context, in backend.Input, h backend.ToolHost) iter.Seq2[backend.Delta, error] {
	return func(yield func(backend.Delta, error) bool) {
		for d, err := range n.speaker.Turn(ctx, in, h) {
			if d.Done != nil {
				d.Done.Native = fmt.Appendf(nil, `[{"type":"thinking","signature":"of message %d","pad":%q}]`, len(in.Messages), strings.Repeat("x", 5000*(len(in.Messages)%2)))
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// IM-06.5, IM-14.2: a program that takes the session up sends exactly what one
// that never ended would have: all that was said, the replies as the provider gave
// them, results as they were shown. Every call goes on from the one before it.
func TestTalkRehydrates(t *testing.T) {
	play := func(t *testing.T, again bool) (inputs []backend.Input) {
		synctest.Test(t, func(t *testing.T) {
			sp := reacts(func(said string, n int, _ []backend.ToolResult) reply {
				if n == 0 && strings.Contains(said, "look") {
					return says("Let me see. ").and(called("call-"+said[:4], "look", "{ \"at\":  \"<"+said[:4]+">\" }"))
				}
				if n == 1 && strings.Contains(said, "read on") {
					return called("on-"+said[:4], "read_result", `{"call":"call-`+said[:4]+`","offset":30000}`)
				}
				return says("Heard " + said)
			})
			look := &gadget{name: "look", run: func(_ context.Context, in json.RawMessage) (tool.Result, error) {
				return tool.Result{Text: "found \xff " + string(in) + strings.Repeat(" hay", 10_000), Images: []tool.Image{{Type: "image/png", Data: []byte("png")}}}, nil
			}}
			p := parlours(t, agenttest.Actor{Backend: native{sp}, Tools: []tool.Tool{look}, Prompt: "You are kind."})
			p.s.Talker = func(k *agent.Talker) {
				k.Picture = func(_ context.Context, file string) (backend.Image, error) {
					if file == "gone.png" {
						return backend.Image{}, errors.New("gone")
					}
					return backend.Image{Type: "image/png", Data: []byte(file)}, nil
				}
			}
			p.open()
			for n := range 10 {
				said := event.Said{Text: event.Inline(fmt.Sprintf("%04d, %s.", n, []string{"hello", "look", "look and read on", strings.Repeat("long ", 2000)}[n%4]))}
				if n == 3 {
					said.Paths = []event.ContextPath{{Path: "/src", Write: true}, {Path: "/doc"}}
					said.Images = []string{"/shot.png", "gone.png"}
				}
				if said.Text.Size > event.InlineMax {
					h, err := p.log.PutBlob(t.Context(), []byte(said.Text.Text))
					if err != nil {
						t.Fatal(err)
					}
					said.Text = event.Content{Blob: h, Size: said.Text.Size}
				}
				p.tell(said)
				if again {
					p.leave()
					p.open()
				}
			}
			p.sound()
			inputs = sp.inputs()
		})
		return inputs
	}
	once, often := play(t, false), play(t, true)
	if len(once) != 10+5+2 || len(often) != len(once) {
		t.Fatalf("%d and %d calls", len(once), len(often))
	}
	for i := range once {
		if whole(once[i]) != whole(often[i]) {
			t.Errorf("after restarts something else is sent (-once +often):\n%.4000s", cmp.Diff(once[i], often[i]))
		}
	}
	for i := 1; i < len(once); i++ {
		was, is := once[i-1], once[i]
		if was.System != is.System || len(was.Tools) != len(is.Tools) {
			t.Errorf("call %d has another prompt", i)
		}
		if whole(was) != whole(backend.Input{Thread: is.Thread, System: is.System, Tools: is.Tools, Messages: is.Messages[:len(was.Messages)]}) {
			t.Errorf("call %d does not go on from the one before it", i)
		}
		if reply := is.Messages[len(was.Messages)]; reply.From != backend.Assistant || !strings.Contains(string(reply.Native), fmt.Sprintf("of message %d", len(was.Messages))) {
			t.Errorf("call %d: the provider's own reply is not there: %.200s", i, reply.Native)
		}
	}
	all := whole(once[len(once)-1])
	mustContain(t, all, "0000, hello.", "You are kind.", "/src (to read and write)", "/doc (to read)", "/shot.png (a picture)", "gone.png (a picture)", "bytes are left out here")
}

// A model that is another one than yesterday, or the same by way of another
// backend, is not given the other's own form of its replies, which it could not
// read.
func TestTalkAnotherModel(t *testing.T) {
	t.Run("by another backend", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			sp := reacts(func(said string, _ int, _ []backend.ToolResult) reply { return says("Heard " + said) })
			p := parlours(t, agenttest.Actor{Backend: native{sp}})
			p.open()
			p.say("One.")
			p.leave()
			p.s.Staffed.Seat.Backend = "another"
			p.open()
			p.say("Two.")
			p.say("Three.")
			p.sound()
			last := sp.inputs()[2].Messages
			if len(last) != 5 || last[1].Native != nil || last[3].Native == nil {
				t.Errorf("sent %+v", last)
			}
		})
	})
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, _ int, _ []backend.ToolResult) reply { return says("Heard " + said) })
		sp.traits.Model = "old"
		p := parlours(t, agenttest.Actor{Backend: native{sp}})
		p.open()
		p.say("One.")
		p.leave()
		sp.traits.Model = "new"
		p.open()
		p.say("Two.")
		p.sound()
		last := sp.inputs()[1].Messages
		if len(last) != 3 || last[1].Text != "Heard One." || last[1].Native != nil {
			t.Errorf("sent %+v", last)
		}
	})
}

// IM-03.5: what is sent to the provider has no tool with which agents coordinate,
// even if somebody offers one of that name, and has launch_run with the team in it.
func TestTalkTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(_ string, n int, last []backend.ToolResult) reply {
			if n == 0 {
				return called("v", event.ToolVote, `{"agent_id":"agent1"}`).and(called("a", event.ToolNewAnswer, `{"content":"x"}`))
			}
			return says(last[0].Text)
		})
		var extra []tool.Tool
		for _, name := range []string{event.ToolNewAnswer, event.ToolVote, "ask_others", "look"} {
			extra = append(extra, &gadget{name: name})
		}
		p := parlours(t, actor("", sp, extra...))
		p.s.Talker = func(k *agent.Talker) {
			k.Desk = func(submit func(context.Context, event.Body) error) []tool.Tool {
				return []tool.Tool{&gadget{name: "open_project"}, &gadget{name: "vote"}}
			}
		}
		p.open()
		p.say("Vote for something.")
		p.sound()
		for _, in := range sp.inputs() {
			if diff := cmp.Diff([]string{"launch_run", "look", "open_project", "read_result"}, offered(in)); diff != "" {
				t.Errorf("offered: %s", diff)
			}
			mustContain(t, whole(in), `ada`, `bob`)
		}
		if r := results(sp.inputs()[1]); len(r) != 2 || !r[0].Error || !strings.Contains(r[0].Text, `There is no tool "vote" here`) {
			t.Errorf("a vote: %+v", r)
		}
	})
}

// IM-02.10, IM-02.11, IM-02.12, IM-02.13, IM-04.3, IM-05.3, IM-11.4: whatever a
// run comes to, the model is told in the form of a RunResult; what it can mend, in
// words.
func TestTalkResults(t *testing.T) {
	const input = `{"task":"Sort it."}`
	for _, tt := range []struct {
		name, input string
		rules       func(*event.SessionRules)
		run         event.Returned
		answer      string // to the question
		text        string
		want        []string
		failed      bool
	}{
		{name: "success", input: input, run: agenttest.Result(event.StatusSuccess, "Sorted."),
			want: []string{`"status":"success"`, `"final_answer":"Sorted."`, `"workspace_path":"/runs/x"`, `"coordination_summary":{"winner":"ada"}`}},
		{name: "timeout", input: input, run: agenttest.Result(event.StatusTimeout, "Half of it."), want: []string{`"status":"timeout"`, "Half of it."}},
		{name: "error", input: input, run: agenttest.Result(event.StatusError, "A part."), want: []string{`"status":"error"`, "A part."}},
		{name: "cancelled", input: input, run: agenttest.Result(event.StatusCancelled, "Begun."), want: []string{`"status":"cancelled"`, "Begun."}},
		{name: "not begun", input: input, run: event.Returned{Error: "no key for ada"}, want: []string{`{"status":"error","error":"no key for ada"}`}},
		{name: "without a RunResult", input: input, run: event.Returned{Status: event.StatusTimeout, StoppedBy: event.StoppedByDeadline, Answer: event.Inline("Late."), Workspace: "/w"},
			want: []string{`{"status":"timeout","stopped_by":"deadline","final_answer":"Late.","workspace_path":"/w"}`}},
		{name: "denied", input: input, rules: func(r *event.SessionRules) { r.Approve = true }, answer: event.LaunchDeny, text: "Too much.",
			want: []string{`{"status":"cancelled","stopped_by":"user","error":"the user did not approve this run: Too much."}`}},
		{name: "approved with words", input: input, rules: func(r *event.SessionRules) { r.Approve = true }, answer: event.LaunchApprove, text: "Mind the gap.",
			run: agenttest.Result(event.StatusSuccess, "Sorted."), want: []string{`"status":"success"`, "The user said when approving it:\nMind the gap."}},
		{name: "nonsense", input: `{"task":"Sort it.","agents":["zoe"]}`, want: []string{"zoe", "ada", "bob"}, failed: true},
		{name: "no object", input: `[]`, want: []string{"JSON object"}, failed: true},
		{name: "refused", input: input, rules: func(r *event.SessionRules) {
			n := int64(0)
			r.Budget.Cost = nil
			r.RunBudget.Tokens = &n
			m := int64(1 << 40)
			r.Budget.Tokens = &m
		},
			want: []string{"Nothing is left of the session's budget"}, failed: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sp := launches("c1", tt.input)
				p := parlours(t, actor("", sp))
				if tt.rules != nil {
					tt.rules(&p.s.Staffed.Rules)
				}
				p.s.Run = func(context.Context, talk.Launch, engine.Port) event.Returned { return tt.run }
				p.open()
				p.say("Sort it.")
				if tt.answer != "" {
					p.answer(tt.answer, tt.text)
				}
				events := p.sound()
				if len(sp.inputs()) != 2 {
					t.Fatalf("%d calls of the model:\n%s", len(sp.inputs()), agenttest.Transcript(events))
				}
				r := results(sp.inputs()[1])
				if len(r) != 1 || r[0].Error != tt.failed || r[0].Name != event.ToolLaunchRun {
					t.Errorf("told %+v", r)
				}
				mustContain(t, r[0].Text, tt.want...)
				if n := len(agenttest.Bodies[event.Concluded](events, agenttest.Host)); n != 1 {
					t.Errorf("concluded %d times", n)
				}
				if n := len(agenttest.Bodies[event.Wanted](events, agenttest.Host)); tt.failed && tt.name != "refused" && n != 0 {
					t.Error("a call that makes no sense was recorded as a wish")
				}
			})
		})
	}
}

// What a person changes before approving is what runs, and the model is told.
func TestTalkAmended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := launches("c1", `{"task":"Sort it.","context":"`+strings.Repeat("long ", 2000)+`"}`)
		p := parlours(t, actor("", sp))
		p.s.Staffed.Rules.Approve = true
		p.s.Talker = func(k *agent.Talker) {
			k.Estimate = func(_ context.Context, l event.Launch) *event.Estimate {
				return &event.Estimate{Tokens: int64(100 * len(l.Agents)), Basis: "a guess"}
			}
		}
		p.open()
		p.say("Sort it.")
		want := agenttest.Bodies[event.Wanted](agenttest.Events(t, p.log), agenttest.Host)
		if len(want) != 1 || want[0].Estimate == nil || want[0].Estimate.Tokens != 200 || want[0].Launch.Context.Blob == "" || want[0].Call != "c1" {
			t.Fatalf("wanted %+v", want)
		}
		l := want[0].Launch
		l.Task, l.Agents, l.Single = event.Inline("Sort it backwards."), []event.AgentID{"bob"}, true
		p.tell(event.Amended{Want: "want/host/1/c1", Revision: 1, Launch: l, By: "ann"})
		p.answer(event.LaunchApprove, "")
		p.sound()
		text := results(sp.inputs()[1])[0].Text
		mustContain(t, text, "Done: Sort it backwards.", "The user changed this run before approving it. It was launched with:", `"task":"Sort it backwards."`, `"agents":["bob"]`)
	})
}

// IM-05.3: a person cancels the run; the model is told what there was by then and
// says so.
func TestTalkCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := launches("c1", `{"task":"Sort it."}`)
		p := parlours(t, actor("", sp))
		p.s.Run = func(ctx context.Context, _ talk.Launch, port engine.Port) event.Returned {
			select {
			case <-port.Told():
			case <-ctx.Done():
			}
			return agenttest.Result(event.StatusCancelled, "The first half.")
		}
		p.open()
		p.say("Sort it.")
		held := p.say("And hurry.")
		p.tell(event.CancelRequested{By: "ann"})
		events := p.sound()
		in := sp.inputs()
		mustContain(t, results(in[1])[0].Text, `"status":"cancelled"`, "The first half.")
		// What was said meanwhile is heard with the result, not before.
		if got := words(in[1]); got != "And hurry." {
			t.Errorf("heard %q", got)
		}
		told := agenttest.Bodies[event.Told](events, agenttest.Host)
		if len(told) != 1 || !slices.Equal(told[0].Messages, []string{held}) {
			t.Errorf("told %+v", told)
		}
	})
}

// Whoever has said that runs need no approval is not said to be asked before each,
// from the next turn on; and the other way round.
func TestTalkWaived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, _ int, _ []backend.ToolResult) reply { return says("Heard " + said) })
		p := parlours(t, actor("", sp))
		p.s.Staffed.Rules.Approve = true
		p.open()
		for _, waived := range []bool{false, true, false} {
			p.tell(event.Waived{On: waived})
			p.say("Hello.")
			in := sp.inputs()
			system := in[len(in)-1].System
			if asks, free := strings.Contains(system, "The user is asked before each run"), strings.Contains(system, "Runs start as soon as you call the tool"); asks == waived || free != waived {
				t.Errorf("waived %t: asked %t, free %t", waived, asks, free)
			}
		}
		p.sound()
	})
}

// A picture that was kept with what was said is shown as it was then, whatever has
// become of its file.
func TestTalkPictureAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sp := reacts(func(said string, _ int, _ []backend.ToolResult) reply { return says("Seen.") })
		p := parlours(t, actor("", sp))
		p.s.Talker = func(k *agent.Talker) {
			k.Picture = func(context.Context, string) (backend.Image, error) {
				return backend.Image{Type: "image/png", Data: []byte("as it is now")}, nil
			}
		}
		h, err := p.log.PutBlob(t.Context(), []byte("as it was"))
		if err != nil {
			t.Fatal(err)
		}
		p.open()
		p.tell(event.Said{Text: event.Inline("Look."), Images: []string{"/shot.png"}, Media: []event.Media{{Type: "image/png", Blob: h}}})
		p.sound()
		first := sp.inputs()[0].Messages[0]
		if len(first.Images) != 1 || string(first.Images[0].Data) != "as it was" || !strings.Contains(first.Text, "/shot.png (a picture)") {
			t.Errorf("shown %+v", first)
		}
	})
}
