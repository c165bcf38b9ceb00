package mcpserve

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"conclave/internal/event"
	"conclave/internal/view"
)

// A state is how a wanted run stands.
type state struct {
	want    want
	refused map[string]string
	// late: the call has waited as long as it may.
	late bool
}

// watch waits until enough is known of a wanted run, or as long as a call may
// wait, and tells meanwhile how things stand.
func (s *Server) watch(ctx context.Context, p place, t *teller, until <-chan time.Time, enough func(state) bool) (state, error) {
	ctx, done := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer done()
	states, broken := make(chan state), make(chan error, 2)
	wg.Go(func() { s.followSession(ctx, p, states, broken) })
	news := make(chan view.Snapshot)
	ticks := time.NewTicker(beat)
	defer ticks.Stop()
	failed := s.desk.failed(p.session)
	var now state
	for {
		select {
		case st := <-states:
			began := st.want.run != "" && now.want.run == ""
			now = st
			if enough(now) {
				return now, nil
			}
			if began {
				wg.Go(func() { s.followRun(ctx, st.want.run, news, broken) })
			}
			t.tell(ctx, s.standing(p, now.want))
		case n := <-news:
			t.tell(ctx, words(n))
		case <-ticks.C:
			t.again(ctx)
			if s.desk.rescue(ctx, p.session) {
				failed = s.desk.failed(p.session)
			}
		case <-until:
			return s.late(ctx, p)
		case err := <-broken:
			return now, err
		case <-failed:
			// If it is being handed over the call ends with its connection.
			if failed = nil; s.ending.Err() == nil {
				if err := s.desk.why(p.session); err != nil {
					return now, err
				}
			}
		case <-ctx.Done():
			return now, ctx.Err()
		}
	}
}

// late is how a wanted run stands when a call has waited long enough.
func (s *Server) late(ctx context.Context, p place) (state, error) {
	b, _, err := s.boards.of(ctx, p)
	if err != nil {
		return state{}, err
	}
	w, ok := b.wants[p.want]
	if !ok {
		w = &want{id: p.want, refused: b.refused[p.want]}
	}
	return state{want: *w, refused: b.refused, late: true}, nil
}

// followSession yields how a wanted run stands now, and at every event from now
// on. What the log says of earlier is no news: nobody is to act on it.
func (s *Server) followSession(ctx context.Context, p place, states chan<- state, broken chan<- error) {
	b, seq, err := s.boards.of(ctx, p)
	if err != nil {
		broken <- fmt.Errorf("follow %s: %w", p.session, err)
		return
	}
	if !b.tell(ctx, p.want, states) {
		return
	}
	for e, err := range s.c.Follow(ctx, p.session, seq+1) {
		if err != nil {
			broken <- fmt.Errorf("follow %s: %w", p.session, err)
			return
		}
		if b.apply(e); !b.tell(ctx, p.want, states) {
			return
		}
	}
}

// tell hands on how a wanted run stands, if the log knows of it.
func (b *board) tell(ctx context.Context, id string, states chan<- state) bool {
	w, ok := b.wants[id]
	if !ok && b.refused[id] == "" {
		return true
	}
	if !ok {
		w = &want{id: id, refused: b.refused[id]}
	}
	select {
	case states <- state{want: *w, refused: maps.Clone(b.refused)}:
		return true
	case <-ctx.Done():
		return false
	}
}

// followRun yields a run at every change of what is told of it, until it is over.
func (s *Server) followRun(ctx context.Context, id event.FlowID, news chan<- view.Snapshot, broken chan<- error) {
	var now view.Snapshot
	last := ""
	for e, err := range s.c.Follow(ctx, id, 1) {
		if err != nil {
			broken <- fmt.Errorf("follow %s: %w", id, err)
			return
		}
		now = now.Apply(e)
		if w := words(now); w != last {
			last = w
			select {
			case news <- now:
			case <-ctx.Done():
				return
			}
		}
		if _, over := e.Body.(event.Finished); over {
			return
		}
	}
}

// words is how a run stands, for a person who looks at their client.
func words(n view.Snapshot) string {
	c := n.Card
	parts := []string{strings.TrimSuffix(c.Sentence(), ".")}
	if c.Rounds > 0 {
		parts = append(parts, count(c.Rounds, "round"), count(c.Answers, "answer"), count(c.Votes, "vote"))
	}
	if u := n.Result.RunResult().Usage.Total; u.CostUSD > 0 || u.Unpriced > 0 {
		parts = append(parts, u.Cost())
	}
	return strings.Join(parts, " · ")
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// standing is how a wanted run stands before there is a run.
func (s *Server) standing(p place, w want) string {
	switch {
	case w.run != "":
		return "The run is launched: " + string(w.run)
	case w.open():
		return "Waiting for a person to approve the run; " + how(p, w)
	}
	return "The run is wanted."
}

// how says to a person how a run is approved.
func how(p place, w want) string {
	sign := string(event.HashOf([]byte(w.asked.Gate)))[:6]
	return fmt.Sprintf("approve it with: conclave approve %s %s (or refuse it with: conclave deny %[1]s %[2]s)", p.session, sign)
}

// A teller tells a client how its call gets on, if it wants to know.
type teller struct {
	session *sdk.ServerSession
	token   any
	n       float64
	last    string
	begun   time.Time
}

func newTeller(r *sdk.CallToolRequest) *teller {
	return &teller{session: r.Session, token: r.Params.GetProgressToken(), begun: time.Now()}
}

func (t *teller) tell(ctx context.Context, message string) {
	if message == t.last {
		return
	}
	t.last = message
	t.send(ctx, message)
}

// again shows that we are still here.
func (t *teller) again(ctx context.Context) {
	t.send(ctx, fmt.Sprintf("%s (%s)", t.last, time.Since(t.begun).Round(time.Second)))
}

// send is a courtesy: a client that cannot be told hears the result.
func (t *teller) send(ctx context.Context, message string) {
	if t.token == nil {
		return
	}
	t.n++
	_ = t.session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: t.token, Progress: t.n, Message: message})
}
