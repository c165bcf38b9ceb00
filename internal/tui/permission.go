package tui

import (
	"fmt"
	"slices"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/text"
	"conclave/internal/view"
)

const (
	atPermission Where = "a permission"
	atReason     Where = "the reason for a refusal"
)

// wishes are what agents want to be allowed to do, by the id of the fact, while
// the question is open.
type wishes map[string]wish

type wish struct {
	agent event.AgentID
	tool  string
	rule  string // why it has to be asked
}

func (w *wishes) apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Wished:
		if *w == nil {
			*w = wishes{}
		}
		(*w)[e.ID] = wish{e.Agent, b.Tool, b.Rule}
	case event.Finished, event.Concluded:
		*w = nil
	}
}

// permission asks whether an agent may do exactly this.
type permission struct {
	gate    string
	offset  int
	reason  field
	writing bool // the reason for a refusal
}

func newPermission(g view.Gate) *permission {
	return &permission{gate: g.Gate, reason: newField("why not, for the agent to read (may be left empty)")}
}

func (p *permission) gateID() string { return p.gate }
func (p *permission) Full() bool     { return false }
func (p *permission) Scroll(n int)   { p.offset += n }

// Where changes while a reason is written: letters are letters then.
func (p *permission) Where() Where {
	if p.writing {
		return atReason
	}
	return atPermission
}

func (p *permission) Title(m *Model) string {
	title := "Permission"
	if g, ok := m.gate(p.gate); ok && g.Wait > 0 {
		title += ", " + m.left(g)
	}
	if n := len(m.permissions()) - 1; n > 0 {
		title += fmt.Sprintf(", %d more", n)
	}
	return title
}

// permissions are the questions whether something may be done.
func (m *Model) permissions() []view.Gate {
	return slices.DeleteFunc(slices.Clone(m.gates()), func(g view.Gate) bool { return g.Kind != event.GatePermission })
}

func (p *permission) Update(m *Model, msg tea.Msg) (tea.Cmd, bool) {
	if !p.writing {
		return nil, false
	}
	done, used := p.reason.update(msg)
	if done {
		return m.permit(event.PermitDeny), true
	}
	return nil, used
}

// View shows all of the action; what does not fit is scrolled to, and it is said
// that there is more.
func (p *permission) View(m *Model, width, height int) []string {
	g, ok := m.gate(p.gate)
	if !ok {
		return []string{m.theme.Dim.Render("This has been answered.")}
	}
	all := text.Wrap(m.theme.Strong.Render(text.Clean(view.OneLine(g.Title))), width)
	for _, l := range bodyLines(m.texts.of(g.Text), width) {
		all = append(all, m.theme.Code.Render(l))
	}
	if w := m.wishOf(g); w.rule != "" {
		all = append(all, text.Wrap(m.theme.Dim.Render("Asked because: "+text.Clean(view.OneLine(w.rule))), width)...)
	}
	var tail []string
	if p.writing {
		tail = append([]string{m.theme.Dim.Render("Deny, because: (Enter denies)")}, p.reason.lines(m, width, max(min(4, height/3), 1), true)...)
	}
	room := max(height-len(tail), 2)
	if len(all) <= room {
		return append(all, tail...)
	}
	room--
	p.offset = max(min(p.offset, len(all)-room), 0)
	out := slices.Clone(all[p.offset : p.offset+room])
	mark := m.theme.Dim.Render("the end")
	if more := len(all) - room - p.offset; more > 0 {
		mark = m.theme.Warn.Render(text.Cut(fmt.Sprintf("↓ %d more lines: scroll to read them", more), width))
	}
	return append(append(out, mark), tail...)
}

// wishOf is what a question about a permission is about.
func (m *Model) wishOf(g view.Gate) wish {
	if m.flowOf(g) == m.id {
		return m.wishes[g.Ref]
	}
	return m.story.wishes[g.Ref]
}

// permit answers the question on top.
func (m *Model) permit(choice string) tea.Cmd {
	p, ok := m.top().(*permission)
	if !ok {
		return nil
	}
	g, ok := m.gate(p.gate)
	if !ok {
		m.closeTop()
		m.notify("The question has been answered meanwhile.")
		return nil
	}
	words := ""
	if choice == event.PermitDeny {
		words = p.reason.text()
	}
	return m.reply(g, choice, words)
}

// offers is why a choice cannot be made.
func offers(choice string) func(*Model) string {
	return func(m *Model) string {
		p, ok := m.top().(*permission)
		if !ok {
			return "No question is open."
		}
		if g, ok := m.gate(p.gate); ok && !slices.ContainsFunc(g.Choices, func(c event.Choice) bool { return c.ID == choice }) {
			return "This question has no such answer."
		}
		return ""
	}
}

func permissionActions() []Action {
	permit := func(name string, keys []string, choice, title, about string, hint int) Action {
		return Action{Name: name, Keys: keys, Where: atPermission, Title: title, About: about, Hint: hint, Why: offers(choice),
			Do: func(m *Model, _ string) tea.Cmd { return m.permit(choice) }}
	}
	return []Action{
		permit("permit_once", []string{"a", "1"}, event.PermitOnce, "allow once", "Allow exactly this, once", 1),
		permit("permit_run", []string{"r", "2"}, event.PermitRun, "for this run", "Allow exactly this for the rest of the run", 2),
		permit("permit_always", []string{"A", "shift+a", "3"}, event.PermitAlways, "always", "Allow exactly this from now on, in every run here", 3),
		{Name: "permit_deny", Keys: []string{"d", "4"}, Where: atPermission, Title: "deny", About: "Deny it, with a reason for the agent", Hint: 4, Why: offers(event.PermitDeny),
			Do: func(m *Model, _ string) tea.Cmd {
				m.top().(*permission).writing = true
				return nil
			}},
		{Name: "permit_next", Keys: []string{"tab"}, Where: atPermission, Title: "next question", About: "The next permission that is asked for",
			Why: func(m *Model) string {
				if len(m.permissions()) < 2 {
					return "No other permission is asked for."
				}
				return ""
			},
			Do: func(m *Model, _ string) tea.Cmd {
				all := m.permissions()
				p := m.top().(*permission)
				i := slices.IndexFunc(all, func(g view.Gate) bool { return g.Gate == p.gate })
				m.decide(all[(i+1)%len(all)])
				return nil
			}},
		{Name: "reason_send", Keys: []string{"ctrl+enter"}, Where: atReason, Title: "deny", About: "Deny it with this reason (so does Enter)",
			Do: func(m *Model, _ string) tea.Cmd { return m.permit(event.PermitDeny) }},
		{Name: "reason_back", Keys: []string{"esc"}, Where: atReason, Title: "back", About: "Back to the question", Hint: 2,
			Do: func(m *Model, _ string) tea.Cmd {
				if p, ok := m.top().(*permission); ok {
					p.writing = false
				}
				return nil
			}},
	}
}
