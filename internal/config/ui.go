package config

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// UI is what a person at a terminal sees and presses. A nil field was not said.
type UI struct {
	Display string // empty is up to the program
	Theme   string // empty is auto
	// Keys are what to press, by the name of what it does; "none" is nothing.
	Keys          map[string][]string
	Mouse, Notify *bool
	Plain         *bool
}

// Themes are the names there are: auto follows the terminal, none has no colours.
func Themes() []string {
	return []string{"auto", "dark", "light", "contrast", "mocha", "latte", "none"}
}

var ui = sync.OnceValue(func() []row[UI] {
	return append([]row[UI]{
		plain("display_type", same("textual_terminal", "rich_terminal", "simple", "silent", "none"), func(u *UI) *string { return &u.Display },
			"What a person at a terminal is to get: simple is the same as plain: true where that key is absent, and the others have no effect."),
		plain("theme", same(Themes()...), func(u *UI) *string { return &u.Theme },
			"The colours: auto follows the terminal's background, contrast is for eyes that need it, none has no colours at all.").byDefault("auto"),
		keymap(),
		optional("mouse", truth(), func(u *UI) **bool { return &u.Mouse },
			"Whether clicks and the wheel are for the program. Off, the terminal has them, and text is marked as everywhere else.").byDefault("true"),
		optional("notifications", truth(), func(u *UI) **bool { return &u.Notify },
			"Whether the terminal calls you when a run is over or asks you something while you look elsewhere.").byDefault("true"),
		optional("plain", truth(), func(u *UI) **bool { return &u.Plain },
			"Whether there are only lines of text from top to bottom, as screen readers want them.").byDefault("false"),
		plain("logging_enabled", truth(), func(u *UI) *bool { return new(bool) },
			"Everything is in the log, whatever stands here.").byDefault("true").then(alwaysLogged),
		{Key: Key{Name: "type", Later: true, Advice: "the key is display_type"}},
	}, later[UI](laterUI)...)
})

func alwaysLogged(r *reader, e entry, _ *UI) {
	if b, ok := e.node.(*ast.BoolNode); ok && !b.Value {
		r.doubt(e, e.keyAt, "logging_enabled has no effect: a run is its log", "")
	}
}

// keymap is a mapping of actions to keys, one or several each. Over a lower layer
// it changes the actions it names and leaves the others.
func keymap() row[UI] {
	v := stroke()
	one := describe[UI]("", v, "").Key
	each := one
	each.Also, each.Each = []Kind{List}, &one
	k := row[UI]{Key: Key{
		Name: "keys", Kind: Map, What: "a mapping of actions to keys, or to lists of keys", Each: &each,
		Doc: "What to press for what, such as help: [f1, ctrl+h]; none takes an action its keys. The help of the display lists the actions. Those of a project's own file do not count, only those in your own for all projects.",
	}}
	k.read = func(r *reader, e entry, u *UI) {
		entries, ok := r.entries(e)
		if !ok {
			return
		}
		out := maps.Clone(u.Keys)
		if out == nil {
			out = map[string][]string{}
		}
		for _, c := range entries {
			if c.node, ok = r.resolve(c); !ok {
				continue
			}
			r.given[c.path] = c
			if keys, ok := strokes(r, c, v); ok {
				out[c.key] = keys
			}
		}
		u.Keys = out
	}
	return k
}

// strokes are one key or a list of them.
func strokes(r *reader, e entry, v value[string]) ([]string, bool) {
	if _, several := e.node.(*ast.SequenceNode); !several {
		s, ok := scan(r, e, v)
		return []string{s}, ok
	}
	items, ok := r.items(e)
	var out []string
	for _, c := range items {
		s, fine := scan(r, c, v)
		ok = ok && fine
		out = append(out, s)
	}
	return out, ok
}

// held are the keys that are held down with another, pressed those with a name.
const (
	held    = "ctrl alt shift meta super hyper"
	pressed = "none enter tab esc space backspace delete insert up down left right home end pgup pgdown"
)

// stroke is a key as it is pressed: ctrl+k, f2, ?.
func stroke() value[string] {
	return value[string]{
		kind: Text, what: "a key such as ctrl+k, alt+enter, f2 or ?, or none", show: quoted,
		also: []Kind{Number}, // a digit
		parse: func(s scalar) (string, string, bool) {
			hint, ok := spelled(s.text)
			if low := strings.ToLower(s.text); !ok && low != s.text {
				if _, ok := spelled(low); ok {
					hint = "did you mean " + quoted(low) + "?"
				}
			}
			return s.text, hint, ok
		},
	}
}

// spelled reports whether a key is written as terminals name it, and if not
// which was meant.
func spelled(key string) (hint string, ok bool) {
	last := key
	if i := strings.LastIndexByte(strings.TrimSuffix(key, "+"), '+'); i >= 0 {
		last = key[i+1:]
		for m := range strings.SplitSeq(key[:i], "+") {
			if !slices.Contains(strings.Fields(held), m) {
				return didYouMean(m, strings.Fields(held)), false
			}
		}
	}
	if r, n := utf8.DecodeRuneInString(last); n > 0 && n == len(last) {
		// A capital is a key of its own, and with another one it is shift.
		return "", unicode.IsGraphic(r) && !unicode.IsSpace(r) && (last == key || !unicode.IsUpper(r))
	}
	if f, err := strconv.Atoi(strings.TrimPrefix(last, "f")); err == nil && f >= 1 && f <= 63 && last == fmt.Sprint("f", f) {
		return "", true
	}
	names := strings.Fields(pressed)
	return didYouMean(last, names), slices.Contains(names, last)
}
