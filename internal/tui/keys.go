package tui

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// keymap finds the action of a key in one part of the window.
type keymap struct {
	of    map[Where]map[string]int // index in the table
	table []Action
}

// newKeymap binds the table's keys, as the person has changed them. Names that
// mean nothing and keys that two actions want are told.
func newKeymap(table []Action, own map[string][]string) (keymap, []string) {
	table = slices.Clone(table)
	var wrong []string
	also := map[int][]string{} // what names that actions have taken over are bound to
	for name, keys := range own {
		i := slices.IndexFunc(table, func(a Action) bool { return a.Name == name })
		if i >= 0 {
			table[i].Keys = bound(keys)
			continue
		}
		i = slices.IndexFunc(table, func(a Action) bool { return slices.Contains(a.Covers, name) })
		if i < 0 {
			wrong = append(wrong, fmt.Sprintf("ui.keys: there is no action %q", name))
			continue
		}
		also[i] = append(also[i], bound(keys)...)
	}
	for i, keys := range also {
		for _, k := range keys {
			if !slices.Contains(table[i].Keys, k) {
				table[i].Keys = append(slices.Clip(table[i].Keys), k)
			}
		}
	}
	m := keymap{of: map[Where]map[string]int{}, table: table}
	for i, a := range table {
		for _, k := range a.Keys {
			keys := m.of[a.Where]
			if keys == nil {
				keys = map[string]int{}
				m.of[a.Where] = keys
			}
			if j, taken := keys[k]; taken {
				wrong = append(wrong, fmt.Sprintf("ui.keys: %s is both %q and %q; the first one has it", k, table[j].Name, a.Name))
				continue
			}
			keys[k] = i
		}
	}
	slices.Sort(wrong)
	return m, wrong
}

// bound are the keys that a person has named for an action.
func bound(keys []string) []string {
	var out []string
	for _, k := range keys {
		if k != "none" && k != "" {
			out = append(out, normalKey(k))
		}
	}
	return out
}

// normalKey is a key as Bubble Tea names it.
func normalKey(k string) string {
	k = strings.ToLower(strings.TrimSpace(k))
	k = strings.ReplaceAll(k, "control+", "ctrl+")
	return strings.NewReplacer("escape", "esc", "return", "enter", "pageup", "pgup", "pagedown", "pgdown").Replace(k)
}

// find is the action of a key, looked for in several places in order.
func (k keymap) find(msg tea.KeyPressMsg, where ...Where) (Action, bool) {
	for _, w := range where {
		for _, name := range []string{msg.Keystroke(), msg.String()} {
			if i, ok := k.of[w][name]; ok {
				return k.table[i], true
			}
		}
	}
	return Action{}, false
}

// keyName is a key as people read it.
func keyName(k string) string {
	names := map[string]string{
		"esc": "Esc", "enter": "Enter", "tab": "Tab", "space": "Space", "up": "↑", "down": "↓", "left": "←", "right": "→",
		"pgup": "PgUp", "pgdown": "PgDn", "home": "Home", "end": "End", "backspace": "Backspace", "delete": "Del",
	}
	parts := strings.Split(k, "+")
	for i, p := range parts {
		switch {
		case names[p] != "":
			parts[i] = names[p]
		case len(p) > 1:
			parts[i] = strings.ToUpper(p[:1]) + p[1:]
		case len(parts) > 1:
			parts[i] = strings.ToUpper(p)
		}
	}
	return strings.Join(parts, "+")
}
