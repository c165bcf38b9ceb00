package team_test

import (
	"fmt"
	"strings"

	"conclave/internal/event"
	"conclave/internal/flow"
	"conclave/internal/team"
)

// state is what members do who did something else before.
func (s *stage) state() {
	for _, m := range s.D.Members() {
		now := string(m.State)
		if len(m.Waiting) > 0 {
			how := "any of "
			if m.All {
				how = "all of "
			}
			if len(m.Waiting) == 1 {
				how = ""
			}
			now += " for " + how + join(m.Waiting)
		}
		if m.Queued > 0 {
			now += fmt.Sprintf(", %d queued", m.Queued)
		}
		if m.Unmerged {
			now += ", not merged"
		}
		if m.Lost != "" {
			now += ": " + m.Lost
		}
		if s.was[m.Agent] != now {
			s.Printf("= %s %s\n", m.Agent, now)
			s.was[m.Agent] = now
		}
	}
}

func join(ids []event.AgentID) string {
	var out []string
	for _, id := range ids {
		out = append(out, string(id))
	}
	return strings.Join(out, ", ")
}

func (s *stage) command(c flow.Command) string {
	switch c := c.(type) {
	case team.Work:
		s.turn[c.Agent] = c.Turn
		return "→ work " + working(c)
	case flow.Stop:
		return "→ stop " + c.Work
	case flow.Tell:
		return fmt.Sprintf("→ tell %s: %s", c.Work, told(c.Note))
	}
	return fmt.Sprintf("→ %T", c)
}

func working(c team.Work) string {
	out := fmt.Sprintf("%s %s", c.Agent, c.Turn)
	if c.Again != "" {
		out += fmt.Sprintf(", again because %q", c.Again)
	}
	for _, x := range c.Mail {
		out += "\n  " + letter(x)
	}
	for _, x := range c.History {
		switch {
		case x.Briefed != nil:
			out += fmt.Sprintf("\n  was told %q", x.Briefed.Text.Text)
		case x.Called != nil:
			out += fmt.Sprintf("\n  said %q", x.Called.Text.Text)
		}
	}
	for _, v := range c.Verdicts {
		out += fmt.Sprintf("\n  %s: %s", v.ID, v.Why)
	}
	return out
}

func letter(x team.Mail) string {
	out := fmt.Sprintf("%s (%s)", x.Kind, x.ID)
	if x.From != "" {
		out += " from " + string(x.From)
	}
	if x.By != "" {
		out += " by " + x.By
	}
	if x.Task != "" {
		out += " on " + x.Task
	}
	if x.State != "" {
		out += ", " + string(x.State)
	}
	if x.Text.Text != "" && x.Kind != team.MailNotice {
		out += fmt.Sprintf(": %q", x.Text.Text)
	}
	return out
}

func told(note any) string {
	n, ok := note.(team.Note)
	switch {
	case !ok:
		return fmt.Sprintf("%T", note)
	case n.Mail != nil:
		return letter(*n.Mail)
	case n.Back != "":
		return n.Back + " was taken back"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", n.Kind, n.Gate, n.Choice, n.Text))
}

// decision is a fact the team has recorded.
func decision(e event.Event) string {
	switch b := e.Body.(type) {
	case event.Admitted:
		return "admitted " + b.Ref
	case event.Refused:
		over := ""
		if b.Over {
			over = ", over"
		}
		return fmt.Sprintf("refused %s (%s%s): %s", b.Ref, b.Code, over, b.Why)
	case event.Granted:
		return "granted " + b.Request
	case event.Asked:
		return fmt.Sprintf("asked %s: %s", b.Gate, b.Title)
	case event.Closed:
		return strings.TrimSpace(fmt.Sprintf("closed %s: %s (%s) %s", b.Gate, b.Choice, b.How, b.By))
	case event.Assigned:
		return fmt.Sprintf("assigned %s %s: %s", e.Agent, b.Turn, strings.Join(b.Messages, " "))
	case event.Interrupted:
		out := fmt.Sprintf("interrupted %s %s: %s", e.Agent, b.Turn, b.Why)
		for _, c := range b.Unknown {
			out += ", unknown " + c.ID
		}
		return out
	case event.Warned:
		if e.Agent == "" {
			return "warned the team"
		}
		return fmt.Sprintf("warned %s %s", e.Agent, b.Turn)
	case event.Notified:
		return fmt.Sprintf("notified %s (%s): %s", b.To, strings.TrimSpace(b.Code+" "+string(b.About)), b.Text)
	case event.Lost:
		return fmt.Sprintf("lost %s (%s): %s", e.Agent, b.Code, b.Message)
	case event.TeamEnded:
		return strings.TrimSpace(fmt.Sprintf("team ended, %s %s %q %s", b.Status, b.StoppedBy, b.Summary.Text, b.Why))
	}
	return event.Kind(e.Body)
}
