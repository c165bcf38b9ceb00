package coord_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
)

// open starts the run. Settings are those of event.Rules under short names;
// what is not set is the default of the mode.
func (s *stage) open(w []string) error {
	var mode event.Mode
	for _, x := range w {
		switch x {
		case "single":
			mode.Single = true
		case "quick":
			mode.Quick = true
		}
	}
	s.start = event.RunStarted{Rules: event.Defaults(mode), Seed: 41}
	var ids []string
	for _, x := range w {
		k, v, _ := strings.Cut(x, "=")
		switch k {
		case "agents":
			ids = strings.Split(v, ",")
		case "seed":
			n, err := strconv.ParseUint(v, 10, 64)
			if err != nil {
				return err
			}
			s.start.Seed = n
		case "path": // read or write
			s.start.Spec.ContextPaths = append(s.start.Spec.ContextPaths, event.ContextPath{Path: "src", Write: v == "write"})
		default:
			if err := setting(&s.start.Rules, k, v); err != nil {
				return err
			}
		}
	}
	for _, id := range ids {
		s.start.Spec.Seats = append(s.start.Spec.Seats, event.Seat{Agent: event.AgentID(id), Backend: "script"})
	}
	s.start.Spec.Task = event.Inline("the task")
	s.start.Spec.Seats = event.Seated(s.start.Seed, s.start.Spec.Seats)
	if err := s.start.Rules.Validate(len(ids)); err != nil {
		return err
	}
	for _, seat := range s.start.Spec.Seats {
		fmt.Fprintf(&s.out, "%s is %s\n", seat.Label, seat.Agent)
	}
	s.submit(event.Fact{ID: "started", Body: s.start})
	return nil
}

func setting(r *event.Rules, k, v string) error {
	flags := map[string]*bool{
		"single": &r.Single, "quick": &r.Quick, "planning": &r.Planning, "execute": &r.Execute,
		"skip_voting": &r.SkipVoting, "disable_injection": &r.DisableInjection, "defer_voting": &r.DeferVoting,
	}
	numbers := map[string]*int{
		"max_answers": &r.MaxAnswers, "max_global": &r.MaxAnswersGlobal, "lead": &r.FairnessLead,
		"attempts": &r.MaxAttempts, "calls": &r.MaxCalls,
	}
	times := map[string]*event.Duration{
		"first_round": &r.FirstRound, "later_rounds": &r.LaterRounds, "round_grace": &r.RoundGrace,
		"run_limit": &r.RunLimit, "run_grace": &r.RunGrace, "stop_grace": &r.StopGrace,
	}
	if p := flags[k]; p != nil {
		*p = v != "no"
		return nil
	}
	if p := numbers[k]; p != nil {
		n, err := strconv.Atoi(v)
		*p = n
		return err
	}
	if p := times[k]; p != nil {
		return p.UnmarshalText([]byte(v))
	}
	return otherSetting(r, k, v)
}

func otherSetting(r *event.Rules, k, v string) (err error) {
	switch k {
	case "rule":
		r.VotingRule = event.VotingRule(v)
	case "strategy":
		r.Strategy = event.Strategy(v)
	case "similarity":
		r.MaxSimilarity, err = strconv.ParseFloat(v, 64)
	case "override", "permission":
		ask := event.Override{On: true}
		if v != "wait" {
			var d time.Duration
			d, err = time.ParseDuration(v)
			ask.Wait = event.Duration(d)
		}
		if k == "override" {
			r.Override = ask
		} else {
			r.Permission = ask
		}
	case "tokens":
		r.Budget.Tokens = new(int64)
		*r.Budget.Tokens, err = strconv.ParseInt(v, 10, 64)
	case "cost":
		var n int64
		n, err = strconv.ParseInt(v, 10, 64)
		m := event.Money(n)
		r.Budget.Cost = &m
	default:
		return fmt.Errorf("no setting %q", k)
	}
	return err
}
