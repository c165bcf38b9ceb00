package mcpserve

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A person is asked through their client where that can be done. In the newer era
// the call returns a question, the client puts it to its user and calls again with
// the answer; in the older one the client is asked while the call goes on. The
// answer is a reply to the same gate that every other window shows, so whoever is
// first decides. Only the client's own answer to that question counts: nothing that
// stands in arguments or texts is looked at.

// firstEra is the first version of the protocol in which questions are results.
const firstEra = "2026-07-28"

// question is what the client calls our question.
const question = "approval"

// A ticket is what the client hands back with the answer: which question was
// asked. It is signed, since whoever holds it can answer.
type ticket struct {
	Session  event.FlowID `json:"session"`
	Want     string       `json:"want"`
	Revision int          `json:"revision"`
}

func (s *Server) sign(t ticket) string {
	p, _ := json.Marshal(t) // strings and a number
	return base64.RawURLEncoding.EncodeToString(p) + "." + base64.RawURLEncoding.EncodeToString(s.mac(p))
}

func (s *Server) mac(p []byte) []byte {
	h := hmac.New(sha256.New, s.secret)
	h.Write(p)
	return h.Sum(nil)
}

// open reads a ticket of ours.
func (s *Server) open(text string) (t ticket, ok bool) {
	body, mac, _ := strings.Cut(text, ".")
	p, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil {
		return t, false
	}
	m, err := base64.RawURLEncoding.DecodeString(mac)
	if err != nil || !hmac.Equal(m, s.mac(p)) {
		return t, false
	}
	return t, json.Unmarshal(p, &t) == nil
}

// mayAsk reports whether a client can put a form to its user.
func (s *Server) mayAsk(r *sdk.CallToolRequest) bool {
	c := r.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

func newEra(r *sdk.CallToolRequest) bool {
	if p := r.Session.InitializeParams(); p != nil {
		return p.ProtocolVersion >= firstEra
	}
	return true
}

// ask is a result that puts the question to the client's user.
func (s *Server) ask(ctx context.Context, p place, w want) (*sdk.CallToolResult, error) {
	form, err := s.form(ctx, p, w)
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{
		RequestState:  s.sign(ticket{p.session, p.want, w.asked.Revision}),
		InputRequests: sdk.InputRequestMap{question: form},
	}, nil
}

// dialogue asks the client's user while the call goes on: they may decide
// elsewhere, or what they are asked about may change, and then they are not asked
// this any longer. It returns the id of their reply, if they gave one, and whether
// they may be asked again: who has not decided is not pressed.
func (s *Server) dialogue(ctx context.Context, r *sdk.CallToolRequest, p place, w want, t *teller, until <-chan time.Time) (st state, reply string, again bool, err error) {
	form, err := s.form(ctx, p, w)
	if err != nil {
		return st, "", false, err
	}
	asking, stop := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		answer, err := r.Session.Elicit(asking, form)
		if err != nil {
			again = asking.Err() != nil // else it cannot ask after all
			return
		}
		reply, err = s.reply(ctx, r, ticket{p.session, p.want, w.asked.Revision}, answer)
		again = err == nil && reply != ""
	}()
	st, err = s.watch(ctx, p, t, until, func(st state) bool { return !st.want.open() || st.want.asked.Revision != w.asked.Revision })
	stop()
	<-over
	return st, reply, again, err
}

// form is the question.
func (s *Server) form(ctx context.Context, p place, w want) (*sdk.ElicitParams, error) {
	text, err := s.describe(ctx, p, w)
	if err != nil {
		return nil, err
	}
	return &sdk.ElicitParams{
		Mode:    "form",
		Message: text,
		RequestedSchema: json.RawMessage(`{"type":"object","required":["decision"],"properties":{
			"decision":{"type":"string","title":"Launch this run?","enum":["approve","deny"]},
			"note":{"type":"string","title":"A note","description":"With a refusal it is told to the agent that wants the run"}}}`),
	}, nil
}

// describe is what a person is asked about, as any other window shows it.
func (s *Server) describe(ctx context.Context, p place, w want) (string, error) {
	task, err := s.c.Text(ctx, w.launch.Task)
	if err != nil {
		return "", err
	}
	background, err := s.c.Text(ctx, w.launch.Context)
	if err != nil {
		return "", err
	}
	var session view.Session
	for e, err := range s.c.Read(ctx, p.session) {
		if err != nil {
			return "", fmt.Errorf("read %s: %w", p.session, err)
		}
		session = session.Apply(e)
	}
	wanted, ok := session.Want(w.id)
	if !ok {
		wanted = view.SessionWant{ID: w.id, Launch: w.launch, Estimate: w.estimate, Revision: w.asked.Revision}
	}
	var b strings.Builder
	b.WriteString("Launch a run?\n\n")
	for _, d := range view.LaunchDetails(session, wanted, task, background) {
		// Further lines are set in, so that no text can pass for a line of ours.
		fmt.Fprintf(&b, "%s: %s\n", d.Name, strings.ReplaceAll(d.Text, "\n", "\n    "))
	}
	return b.String(), nil
}

// returned is the ticket that came with a call, if it is one of ours for this run.
func (s *Server) returned(r *sdk.CallToolRequest, p place) (ticket, bool) {
	if r.Params.RequestState == "" {
		return ticket{}, false
	}
	t, ok := s.open(r.Params.RequestState)
	return t, ok && t.Session == p.session && t.Want == p.want
}

// reply hands the user's answer to the gate and returns its id; a user who has
// not decided leaves the question open, and there is none.
func (s *Server) reply(ctx context.Context, r *sdk.CallToolRequest, t ticket, said sdk.InputResponse) (string, error) {
	answer, ok := said.(*sdk.ElicitResult)
	if !ok || answer == nil {
		return "", nil
	}
	choice := ""
	switch decision, _ := answer.Content["decision"].(string); {
	case answer.Action == "decline", answer.Action == "accept" && decision == event.LaunchDeny:
		choice = event.LaunchDeny
	case answer.Action == "accept" && decision == event.LaunchApprove:
		choice = event.LaunchApprove
	default:
		return "", nil
	}
	note, _ := answer.Content["note"].(string)
	f := event.Fact{ID: "reply/mcp/" + rand.Text(), Body: event.Replied{
		Gate: "launch/" + t.Want, Choice: choice, Text: note, Revision: t.Revision, By: "the user of " + clientName(r),
	}}
	return f.ID, s.c.Send(ctx, t.Session, f)
}

// judged reports whether a reply, if one was given, has its verdict: it was taken,
// or came too late, or was about something that has changed since.
func judged(st state, reply string) bool {
	c := st.want.closed
	return reply == "" || st.refused[reply] != "" || c != nil && c.Reply == reply
}
