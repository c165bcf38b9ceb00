package script

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A When says which scenes a step is for. Every condition that is given must
// hold.
type When struct {
	Presenting *bool            // neither new_answer nor vote is offered
	Own        *Count           // how many answers it has given
	Peers      *Count           // how many peers' answers it is shown
	Behind     *Count           // how many of those have fewer revisions than its own
	Call       *Count           // which model call of the turn
	Offered    []string         // tools that must be there
	Sees       []*regexp.Regexp // each somewhere in what it was sent
	Refused    *bool            // one of the last tool results was an error
	Task       *regexp.Regexp   // in the task
	Message    *regexp.Regexp   // in something the user has said besides
	Said       *regexp.Regexp   // in the last message of the user's
	Reply      *Count           // which reply to that message
	Result     []*regexp.Regexp // each in something the calls of the last reply gave back
}

// A Count is "2", exactly two, or "2+", two or more.
type Count struct {
	N      int
	OrMore bool
}

func (c *Count) fits(n int) bool { return c == nil || n == c.N || c.OrMore && n > c.N }

func parseCount(s string) (Count, bool) {
	digits, more := strings.CutSuffix(s, "+")
	n, err := strconv.ParseUint(digits, 10, 31) // takes no sign
	return Count{int(n), more}, err == nil
}

func (w When) always() bool {
	return w.Presenting == nil && w.Own == nil && w.Peers == nil && w.Behind == nil && w.Call == nil &&
		w.Offered == nil && w.Sees == nil && w.Refused == nil && w.Task == nil && w.Message == nil &&
		w.Said == nil && w.Reply == nil && w.Result == nil
}

func (w When) fits(s *Scene) bool {
	for _, name := range w.Offered {
		if !slices.Contains(s.offered, name) {
			return false
		}
	}
	for _, re := range w.Sees {
		if !matches(re, s.sent) {
			return false
		}
	}
	for _, re := range w.Result {
		if !slices.ContainsFunc(s.Results, re.MatchString) {
			return false
		}
	}
	return same(w.Presenting, s.presenting) && same(w.Refused, s.refused) &&
		w.Own.fits(s.own) && w.Peers.fits(len(s.Peers)) && w.Behind.fits(s.behind) && w.Call.fits(s.Call) &&
		matches(w.Said, s.Said) && w.Reply.fits(s.Reply) && matches(w.Task, s.Task) && (w.Message == nil || slices.ContainsFunc(s.Messages, w.Message.MatchString))
}

func same(want *bool, got bool) bool { return want == nil || *want == got }

func matches(re *regexp.Regexp, s string) bool { return re == nil || re.MatchString(s) }

func (r *reader) when(f field) When {
	var w When
	for _, c := range r.fields(f.value, f.at, "when", "presenting", "own", "peers", "behind", "call", "offered", "sees", "refused", "task", "message", "said", "reply", "result") {
		switch c.key {
		case "presenting":
			w.Presenting = new(r.bool(c))
		case "refused":
			w.Refused = new(r.bool(c))
		case "own":
			w.Own = r.count(c)
		case "peers":
			w.Peers = r.count(c)
		case "behind":
			w.Behind = r.count(c)
		case "call":
			w.Call = r.count(c)
		case "offered":
			for _, one := range r.oneOrMore(c) {
				w.Offered = append(w.Offered, r.text(one))
			}
		case "sees":
			for _, one := range r.oneOrMore(c) {
				w.Sees = append(w.Sees, r.regexp(one))
			}
		case "task":
			w.Task = r.regexp(c)
		case "message":
			w.Message = r.regexp(c)
		case "said":
			w.Said = r.regexp(c)
		case "reply":
			w.Reply = r.count(c)
		case "result":
			for _, one := range r.oneOrMore(c) {
				w.Result = append(w.Result, r.regexp(one))
			}
		}
	}
	return w
}

func (r *reader) count(f field) *Count {
	s, _ := written(f.value)
	c, ok := parseCount(s)
	if !ok {
		r.fail(place(f.value, f.at), "%s must be a count such as 2, or 2+ for two or more, not %s", f.key, shown(f.value))
	}
	return &c
}
