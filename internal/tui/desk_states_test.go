package tui

// deskStates are how the window looks where somebody decides about runs of a
// conversation, or looks around from there.
func deskStates() []state {
	return []state{
		{name: "talk-approval", about: "a run waits for your approval: all that is about to happen", set: func(p *play) { p.bureau(); p.proposed() }},
		{name: "talk-edit", about: "a run is changed before it is launched", set: func(p *play) { p.bureau(); p.proposed(); p.editing("bob") }},
		{name: "talk-run", about: "the whole run behind its card", set: func(p *play) { p.bureau(); p.cardOpened() }},
		{name: "talk-apart", set: func(p *play) { p.bureau(); p.concluded(); p.coordinate() }},
		{name: "sessions", about: "conversations to go on with", set: func(p *play) { p.shelf(p.bureau()) }},
		{name: "projects", set: func(p *play) { p.archived(p.bureau()) }},
		{name: "versions", about: "a deliverable in all its versions", set: func(p *play) {
			p.archived(p.bureau())
			p.press(key("enter"), key("j"), key("enter"))
		}},
	}
}
