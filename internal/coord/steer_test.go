package coord_test

import (
	"fmt"
	"strings"

	"conclave/internal/event"
)

// steer has a person say something to the run.
func (s *stage) steer(verb string, w []string) error {
	var words []string
	opt := map[string]string{}
	for _, x := range w {
		if text, ok := strings.CutPrefix(x, `"`); ok {
			words = append(words, text)
		} else if k, v, ok := strings.Cut(x, "="); ok {
			opt[k] = v
		} else {
			words = append(words, x)
		}
	}
	if takes := verb == "message" || verb == "withdraw" || verb == "stop"; takes != (len(words) == 1) {
		return fmt.Errorf("%s what?", verb)
	}
	id := s.id(verb)
	var b event.Body
	switch verb {
	case "message":
		m := event.Messaged{Text: event.Inline(words[0]), By: opt["by"]}
		for _, a := range strings.FieldsFunc(opt["to"], func(r rune) bool { return r == ',' }) {
			m.To = append(m.To, event.AgentID(a))
		}
		s.said[id] = words[0]
		b = m
	case "withdraw":
		p := event.Withdrawn{Message: words[0], By: opt["by"]}
		for id, text := range s.said {
			if text == words[0] {
				p.Message = id
			}
		}
		b = p
	case "wrap-up":
		b = event.WrapUpRequested{By: opt["by"]}
	case "pause":
		b = event.PauseRequested{By: opt["by"]}
	case "continue":
		b = event.ContinueRequested{By: opt["by"]}
	case "hold", "unhold":
		gate := event.GateOverride
		if of := opt["of"]; of != "" {
			gate = s.questionOf(of)
		}
		b = event.Held{Gate: gate, On: verb == "hold", By: opt["by"]}
	case "stop":
		b = event.StopRequested{Target: event.AgentID(words[0]), Job: opt["job"], By: opt["by"]}
	}
	s.submit(event.Fact{ID: id, Body: b})
	return nil
}

// reading is what messages say.
func (s *stage) reading(ids []string) string {
	out := ""
	for _, id := range ids {
		out += fmt.Sprintf(" %q", s.said[id])
	}
	return when(out != "", ", reading"+out)
}

// questionOf is the newest question of an agent's.
func (s *stage) questionOf(a string) string {
	gate := ""
	for _, e := range s.log {
		if b, ok := e.Body.(event.Asked); ok && string(e.Agent) == a {
			gate = b.Gate
		}
	}
	return gate
}
