package tui

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/event"
	"conclave/internal/tui/input"
)

// keyOf is a key as a terminal sends it.
func keyOf(t testing.TB, name string) tea.KeyPressMsg {
	t.Helper()
	codes := map[string]rune{
		"esc": tea.KeyEscape, "enter": tea.KeyEnter, "tab": tea.KeyTab, "space": tea.KeySpace, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight,
		"pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "delete": tea.KeyDelete, "backspace": tea.KeyBackspace,
		"f1": tea.KeyF1, "f2": tea.KeyF2, "f3": tea.KeyF3, "f4": tea.KeyF4, "f5": tea.KeyF5, "f6": tea.KeyF6, "f7": tea.KeyF7, "f8": tea.KeyF8, "f9": tea.KeyF9, "f10": tea.KeyF10, "f11": tea.KeyF11, "f12": tea.KeyF12,
	}
	mods := map[string]tea.KeyMod{"ctrl": tea.ModCtrl, "alt": tea.ModAlt, "shift": tea.ModShift}
	var k tea.KeyPressMsg
	rest := name
	for {
		mod, after, ok := strings.Cut(rest, "+")
		if !ok || mods[mod] == 0 {
			break
		}
		k.Mod, rest = k.Mod|mods[mod], after
	}
	switch code, named := codes[rest]; {
	case named:
		k.Code = code
		if rest == "space" {
			k.Text = " "
		}
	case len([]rune(rest)) == 1:
		k.Code = []rune(rest)[0]
		if k.Mod == 0 {
			k.Text = rest
		}
	default:
		t.Fatalf("there is no key %q", name)
	}
	return k
}

// Everything a person can do is told of in full, once.
func TestTable(t *testing.T) {
	names, commands := map[string]bool{}, map[string]bool{}
	for _, a := range actions() {
		switch {
		case a.Name == "" || a.Title == "" || a.About == "" || a.Where == "" || a.Do == nil:
			t.Errorf("%q says too little: %+v", a.Name, a)
		case names[a.Name]:
			t.Errorf("there are two actions %q", a.Name)
		case !a.Command && len(a.Keys) == 0:
			t.Errorf("%s can be asked for in no way", a.Name)
		case !a.Command && (a.Args != "" || len(a.Aliases) > 0):
			t.Errorf("%s is no command and has arguments or other names", a.Name)
		case a.Command && a.Where != Anywhere && a.Where != InInput:
			t.Errorf("the command %s is bound to %s, where nobody types", a.Name, a.Where)
		}
		names[a.Name] = true
		if a.Command {
			for _, n := range append([]string{a.Name}, a.Aliases...) {
				if commands[n] {
					t.Errorf("two commands are called /%s", n)
				}
				commands[n] = true
			}
		}
	}
	for _, n := range []string{
		"answers", "votes", "files", "cost", "tools", "shells", "tasks", "runs", "sessions", "commands", "theme", "export", "copy", "history", "status",
		"clear", "new", "paste-image", "attach", "mouse", "config", "help", "quit",
	} {
		if !commands[n] {
			t.Errorf("there is no command /%s", n)
		}
	}
}

// No key means two things in one place, needs Ctrl+Shift, or is one that people
// know as readline's while they type.
func TestKeysOfTheTable(t *testing.T) {
	if _, wrong := newKeymap(actions(), nil); len(wrong) > 0 {
		t.Errorf("%s", strings.Join(wrong, "\n"))
	}
	for _, a := range actions() {
		for _, k := range a.Keys {
			if msg := keyOf(t, k); msg.Mod&tea.ModCtrl != 0 && msg.Mod&tea.ModShift != 0 {
				t.Errorf("%s needs %s", a.Name, k)
			}
			if a.Where != Anywhere && a.Where != InInput {
				continue
			}
			out, _ := input.New(input.Options{}).Update(keyOf(t, k))
			switch out.(type) {
			case input.Unhandled, input.Editor:
			default:
				t.Errorf("%s: the input takes %s", a.Name, k)
			}
			if slices.Contains(readline, k) && k != "ctrl+d" { // which ends a line only where there is none
				t.Errorf("%s takes readline's %s", a.Name, k)
			}
		}
	}
}

var readline = strings.Fields(`ctrl+a ctrl+b ctrl+d ctrl+e ctrl+f ctrl+h ctrl+j ctrl+k ctrl+n ctrl+p ctrl+r ctrl+t ctrl+u ctrl+w ctrl+y ctrl+_
	alt+b alt+c alt+d alt+f alt+l alt+t alt+u alt+y alt+. alt+backspace alt+enter ctrl+left ctrl+right`)

// A key that is bound anew is so for whoever presses it, in help, in the footer
// and in the palette.
func TestRebind(t *testing.T) {
	s, _ := museum(t, 100, 40)
	keys, wrong := newKeymap(actions(), map[string][]string{"palette": {"F11"}, "answers": {"alt+r", "alt+h"}, "votes": {"none"}})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	s.Model.keys, s.Model.table = keys, keys.table
	s.see("F11 commands")
	s.gone("F2 commands")
	s.press(keyOf(t, "f2"))
	if s.top() != nil {
		t.Error("the old key still works")
	}
	s.press(keyOf(t, "f11"))
	s.letters("every answer")
	s.see("Alt+R, Alt+H, /answers")
	s.press(key("esc"), key("esc"), keyOf(t, "alt+h"))
	s.see("agent2.2")
	s.press(key("esc"))
	s.say("help")
	s.see("Keys and commands")
	s.press(key("/"))
	s.letters("every answer")
	s.see("Alt+R, Alt+H, /answers")
	s.press(key("esc"), key("esc"), key("alt+v"))
	if s.top() != nil {
		t.Error("a key that was taken away still works")
	}
	if _, wrong := newKeymap(actions(), map[string][]string{"no_such": {"f11"}, "votes": {"f2"}}); len(wrong) != 2 {
		t.Errorf("told: %v", wrong)
	}
}

// Help has every action with its keys.
func TestHelpIsComplete(t *testing.T) {
	s, _ := museum(t, 200, 50)
	all := strings.Join(s.helpLines(200), "\n")
	for _, a := range s.table {
		name := a.Name
		if usualTab(a) { // they stand together
			name = "agent_0 … agent_9"
		}
		if !strings.Contains(all, "["+name+"]") {
			t.Errorf("%s is not in help", a.Name)
		}
	}
}

// Every look around, asked for in each situation, is seen or says why not.
func TestLooksInEverySituation(t *testing.T) {
	stages := map[Situation]func(testing.TB) *scene{
		Idle:    func(t testing.TB) *scene { return newScene(t, 80, 24, "ada", "bob") },
		Running: func(t testing.TB) *scene { s, _ := museum(t, 80, 24); return s },
		Gate: func(t testing.TB) *scene {
			s, _ := museum(t, 80, 24)
			s.on("", event.Asked{Gate: "g1", Kind: event.GateOverride, Title: "Another winner?", Choices: []event.Choice{{ID: "ada"}, {ID: "bob"}}})
			return s
		},
		Finished: func(t testing.TB) *scene { s, _ := museum(t, 80, 24); s.finish(); return s },
	}
	for situation, stage := range stages {
		for _, a := range slices.Concat(lookActions(), browserActions()) {
			if slices.Contains([]string{"paste-image", "runs", "timeline_runs", "export"}, a.Name) {
				continue // need a program that has them
			}
			s := stage(t)
			if got := s.situation(); got != situation {
				t.Fatalf("%v is not %v", got, situation)
			}
			before := s.screen()
			s.follow(s.Model.run(a, ""))
			if s.screen() == before {
				t.Errorf("%s, %v: nothing is to be seen of it", a.Name, situation)
			}
		}
	}
}
