package cli

import "conclave/internal/view"

// paint colours text, or leaves it alone where colours are not wanted.
type paint bool

func (p paint) with(code, s string) string {
	if !p || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) dim(s string) string    { return p.with("2", s) }
func (p paint) bold(s string) string   { return p.with("1", s) }
func (p paint) green(s string) string  { return p.with("32", s) }
func (p paint) yellow(s string) string { return p.with("33", s) }
func (p paint) red(s string) string    { return p.with("31", s) }

// state colours an agent's line.
func (p paint) state(s view.AgentState, text string) string {
	switch s {
	case view.StateWorking, view.StatePresenting:
		return p.bold(text)
	case view.StateVoted, view.StateDone:
		return p.green(text)
	case view.StateLost:
		return p.red(text)
	}
	return text
}

// item colours a line of the timeline.
func (p paint) item(i view.Item, text string) string {
	switch i.Kind {
	case view.ItemAnswer, view.ItemChosen, view.ItemPresenting:
		return p.bold(text)
	case view.ItemVote:
		return p.green(text)
	case view.ItemRefused, view.ItemInterrupted, view.ItemWarning, view.ItemCancel, view.ItemEnding:
		return p.yellow(text)
	case view.ItemFailed, view.ItemLost:
		return p.red(text)
	}
	return text
}
