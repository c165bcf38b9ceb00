package tui

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

// One goes from field to field with the keys that do so everywhere, also while
// writing.
func TestLaunchFormMoves(t *testing.T) {
	p, _ := desk(t, 100, 40)
	p.proposed()
	e := p.editing("Task")
	back := tea.KeyPressMsg{Code: tea.KeyTab, Mod: tea.ModShift}
	at := func(want string) {
		t.Helper()
		if got := e.rows[e.at].label; got != want || e.writing {
			t.Errorf("it is at %s, writing %v", got, e.writing)
		}
	}
	p.see("↑↓, Tab: another field", "Tab next field")
	p.press(key("tab"))
	at("Context")
	p.press(back)
	at("Task")
	p.press(back)
	at("Settings") // round and round
	p.press(tea.KeyPressMsg{Code: tea.KeyDown})
	at("Task")
	p.press(key("enter"))
	p.letters(" of Go")
	p.press(key("tab"))
	at("Context")
	p.press(key("enter"), back)
	at("Task")
	if got := e.rows[0].text.text(); got != "Compare the sorting algorithms in src/sort of Go" {
		t.Errorf("the task is %q", got)
	}
}

// What is wrong is said with the names that the fields have.
func TestLaunchFormWords(t *testing.T) {
	p, _ := desk(t, 110, 40)
	p.proposed()
	e := p.editing("Mode")
	p.press(key("space"))
	p.see("Mode is single and 2 agents are checked: check one, or switch Mode to multi.")
	p.press(key("space"))
	e.point("bob")
	p.press(key("space"))
	p.see("Mode is multi and only ada is checked")
	p.press(key("space"))
	for field, c := range map[string]struct{ text, say string }{
		"Task":     {"", "! Task is empty"},
		"Files":    {"remove /code", `! The permission of /code in Files must be read or write, not "remove".`},
		"Settings": {`{"max_cost": "lots"}`, "! Settings: max_cost must be"},
	} {
		e.point(field)
		in := e.rows[e.at].text.in
		was := in.Text()
		in.SetText(c.text)
		p.see(c.say)
		p.gone("coordination_overrides", "context_paths", "task is")
		in.SetText(was)
	}
	if _, wrong := e.params(); wrong != "" {
		t.Errorf("it is still said: %s", wrong)
	}
}

// Files may be named as they lie here; what is saved and shown is where they are.
func TestLaunchFormFiles(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	p, b := desk(t, 110, 40)
	p.proposed()
	p.Model.team.Dir = "/code"
	e := p.editing("Files")
	p.press(key("enter"))
	e.rows[e.at].text.in.SetText("write src/sort\nnotes.md\nread ../lib\nread ~/data")
	p.press(key("tab"))
	want := "write /code/src/sort\nread /code/notes.md\nread /lib\nread /home/ann/data"
	e.point("Files")
	if got := e.rows[e.at].text.text(); got != want {
		t.Errorf("it is shown as %q", got)
	}
	p.press(key("s"))
	if len(b.amended) != 1 || pathText(b.amended[0].ContextPaths) != want {
		t.Errorf("saved is %+v", b.amended)
	}
}

// Who does not take part is told nothing: its text goes when it is unticked.
func TestLaunchFormDropsWordsForWhoIsOut(t *testing.T) {
	p, b := desk(t, 110, 40)
	p.proposed()
	e := p.editing("eve")
	p.press(key("space"))
	e.point("ada")
	p.press(key("space"))
	p.see("For ada      (not in this run) You are the sceptic.")
	p.press(key("s"))
	if len(b.amended) != 1 || len(b.amended[0].Prompts) != 0 {
		t.Fatalf("saved is %+v:\n%s", b.amended, p.screen())
	}
	l, err := b.amended[0].Launch(p.chat().Staffed.Team)
	if err != nil || len(l.Agents) != 2 {
		t.Errorf("it is changed to %+v, %v", l, err)
	}
}
