package claudecode

import (
	"fmt"
	"sync"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// A session is a process with one conversation.
type session struct {
	kind    kind
	native  string // the program's name of the conversation
	tools   []backend.ToolSpec
	key     backend.Key // where it comes from
	process *cli.Process
	proxy   *cli.Proxy // nil with the user's own login
	unlock  func()
	closing <-chan struct{}
	begun   chan struct{} // closed when process is set
	listed  chan struct{} // closed when our tools were fetched
	once    sync.Once     // for listed
	version string        // as it says; of the turn
	cost    float64       // of the process so far; of the turn

	mu      sync.Mutex
	turn    *turn // that lines are for; nil between turns
	waiting map[string]chan line
	garbled error
}

// alive reports whether the process can take another turn.
func (s *session) alive() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.process.Done():
		return false
	default:
		return s.garbled == nil
	}
}

// end ends the process and everything that was there for it.
func (s *session) end() {
	if s.process != nil {
		s.process.End(cli.CloseGrace)
	}
	if s.proxy != nil {
		s.proxy.Close()
	}
	s.unlock()
}

// odd is that the program behaves as no version does that is known.
func (s *session) odd(what string) error {
	return &backend.Error{Kind: backend.Broken, Message: fmt.Sprintf("claude %s%s; this version may be one that Conclave does not know", s.named(), what)}
}

func (s *session) named() string {
	if s.version == "" {
		return ""
	}
	return s.version + " "
}

// send sends a line. If nobody listens any more, that is noticed by its end.
func (s *session) send(v object) { _ = s.process.Send(v) }

// ask sends a request; its answer comes on the channel, if it comes.
func (s *session) ask(r object) <-chan line {
	id, answer := newID(), make(chan line, 1)
	s.mu.Lock()
	s.waiting[id] = answer
	s.mu.Unlock()
	s.send(object{"type": "control_request", "request_id": id, "request": r})
	return answer
}

// answer answers a request of the program's.
func (s *session) answer(request string, response object) {
	s.send(object{"type": "control_response", "response": object{"subtype": "success", "request_id": request, "response": response}})
}

// hear is called with each line, by the goroutine that reads them. What belongs to
// a turn goes to the turn, which may take its time.
func (s *session) hear(p []byte) {
	<-s.begun
	l, ok := parse(p)
	if !ok {
		if p[0] == '{' { // anything else is a word beside the protocol
			s.garble(fmt.Errorf("%.80q", p))
		}
		return
	}
	switch l.Type {
	case "control_response":
		s.mu.Lock()
		answer := s.waiting[l.Response.RequestID]
		delete(s.waiting, l.Response.RequestID)
		s.mu.Unlock()
		if answer != nil {
			answer <- l
		}
		return
	case "control_request":
		if s.serve(l) {
			return
		}
	}
	s.deliver(l)
}

// deliver hands a line to the turn. Between turns nobody asks for anything.
func (s *session) deliver(l line) {
	s.mu.Lock()
	t := s.turn
	s.mu.Unlock()
	if t == nil {
		if l.Type == "control_request" {
			s.refuse(l, "There is no turn under way.")
		}
		return
	}
	select {
	case t.lines <- l:
	case <-t.over:
	}
}

// garble notes that a line made no sense: something may have been lost with it.
func (s *session) garble(err error) {
	s.mu.Lock()
	s.garbled = err
	t := s.turn
	s.mu.Unlock()
	if t != nil {
		select {
		case t.lines <- line{Type: "garbled", Result: err.Error()}:
		case <-t.over:
		}
	}
}

// attach has lines go to a turn, or to nobody.
func (s *session) attach(t *turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn = t
}
