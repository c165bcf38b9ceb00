package codex

// wake is said to Codex when an agent of its own has ended while it was not at work.
// What that came to is in its conversation then, or, with the second kind of agents
// that Codex has, where its tool finds it; it looks for neither by itself.
const wake = "An agent that you started has ended. What it came to is in its notification; if there is none, wait_agent brings it. " +
	"Go on with your task. If you cannot before others have ended, end your turn: you will be told when they have."

// A crew is the agents that Codex has started by itself in a turn of ours. They work
// in threads of their own, also when the turn that started them has ended.
type crew struct {
	at map[string]string // those at work, by thread: their turns; empty before the first
	// seen are the threads that have begun a turn.
	seen map[string]bool
	// ended: one has ended since Codex spoke. One that ends while Codex works is told
	// to it by itself, before it ends its turn.
	ended bool
	// Those of the second kind write instead, and what they write is read when a tool
	// has returned and not before. Mail: one has ended since.
	writes map[string]bool
	mail   bool
}

func newCrew() crew {
	return crew{at: map[string]string{}, seen: map[string]bool{}, writes: map[string]bool{}}
}

func (c *crew) busy() bool { return len(c.at) > 0 }

// news: Codex has not heard of all that have ended.
func (c *crew) news() bool { return c.ended || c.mail }

// heard notes what Codex has done since.
func (c *crew) heard(i item) {
	switch _, tool := i.call(); {
	case i.Type == "agentMessage":
		c.ended = false
	case tool, i.Type == "dynamicToolCall":
		c.mail = false
	}
}

// began notes that an agent has begun a turn.
func (c *crew) began(thread, turn string) { c.at[thread], c.seen[thread] = turn, true }

// over notes that an agent has ended its turn, or is gone.
func (c *crew) over(thread string) {
	if _, ok := c.at[thread]; ok {
		delete(c.at, thread)
		c.ended, c.mail = c.ended || !c.writes[thread], c.mail || c.writes[thread]
	}
}

// starts notes that Codex has started agents, which have not begun perhaps.
func (c *crew) starts(i item) {
	var threads []string
	switch {
	case i.Type == "collabAgentToolCall" && i.Tool == "spawnAgent":
		for _, id := range i.Receivers {
			if s := i.States[id].Status; s == "pendingInit" || s == "running" {
				threads = append(threads, id)
			}
		}
	case i.Type == "subAgentActivity" && i.Activity == "started":
		threads = append(threads, i.Agent)
		c.writes[i.Agent] = true
	}
	for _, id := range threads {
		if !c.seen[id] {
			c.at[id] = ""
		}
	}
}

// crewed takes what is reported of the agents' turns.
func (t *turn) crewed(method string, u update) error {
	switch {
	case u.Thread == t.thread:
		t.adopt(method, u)
	case method == "turn/started":
		t.crew.began(u.Thread, u.Turn.ID)
		if t.quiet {
			return t.stop(u.Thread, u.Turn.ID)
		}
	case method == "turn/completed", method == "thread/closed", u.Status.Type == "notLoaded":
		t.crew.over(u.Thread)
	}
	return nil
}

// adopt takes a turn that Codex has begun by itself, between those that we did, for
// ours. The version that this was written with does not.
func (t *turn) adopt(method string, u update) {
	if method == "turn/started" && t.done && !t.begins && u.Turn.ID != t.id {
		t.named(u.Turn.ID)
		t.done, t.state, t.crew.ended, t.crew.mail = false, turnState{}, false, false
	}
}
