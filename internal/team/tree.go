package team

import "conclave/internal/event"

// tree is what is known of a member's tree.
type tree struct {
	Root *event.Rooted `json:"root,omitempty"`
	// Head is its newest commit; Fresh the newest with work of the member's that is
	// not in the shared tree; Merged what was brought in last.
	Head   string `json:"head,omitempty"`
	Fresh  string `json:"fresh,omitempty"`
	Merged string `json:"merged,omitempty"`
}

func (t *Team) rooted(m *member, b event.Rooted) {
	m.Root, m.Head = &b, b.Commit
	if t.leads(m) {
		t.s.Shared = b.Commit
	}
}

// committed takes in a state of a tree, whichever take it came from: it is there.
func (t *Team) committed(m *member, b event.Committed) {
	m.Head = b.Commit
	switch {
	case t.leads(m):
		t.s.Shared = b.Commit
	case !b.Same && b.Commit != m.Merged:
		m.Fresh = b.Commit
	}
}

// merged takes in that a member's work is in the shared tree. What it has made
// since is not.
func (t *Team) merged(b event.Merged) {
	m := t.member(b.Member)
	if m == nil || len(b.Conflicts) > 0 {
		return
	}
	if b.From != m.Merged { // else it was there already, and nothing is different
		t.s.Idle = 0
	}
	t.s.Shared = b.Commit
	if m.Merged = b.From; b.From == m.Head || b.From == m.Fresh {
		m.Fresh = ""
	}
}
