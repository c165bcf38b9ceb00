package input

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"conclave/internal/tui/text"
)

// acts are everything that can happen to a composer, one for each byte.
func acts() []func(m *Model) {
	var out []func(m *Model)
	send := func(msg tea.Msg) { out = append(out, func(m *Model) { deliver(m, msg) }) }
	for _, name := range strings.Fields(`enter ctrl+j up down left right home end ctrl+left ctrl+right ctrl+home ctrl+end
		backspace delete ctrl+d ctrl+w alt+backspace alt+d ctrl+k ctrl+u ctrl+y alt+y ctrl+_ ctrl+r ctrl+s ctrl+g esc tab
		shift+tab pgup`) {
		send(press(name))
	}
	for _, s := range []string{
		"a", "b", " ", "@", "/", "!", `"`, `\`, ":w", ".", "日", "e", "\u0301", "\u200d", "👩", "🇩", "\ufe0f", "\t", "\u200b", "\u0600", "각", "\u1160",
	} {
		send(tea.KeyPressMsg{Code: tea.KeyExtended, Text: s})
	}
	for _, s := range []string{"", "x\ny", strings.Repeat("l\n", 12), "a.png", "\x1b[2J\u009b", "日本語 text that is long enough to wrap\n"} {
		send(tea.PasteMsg{Content: s})
	}
	return append(out,
		func(m *Model) { m.Clear() },
		func(m *Model) { m.Restore() },
		func(m *Model) { m.SetText(m.Text()) },
		func(m *Model) { m.AddChip("a label that is wider than some windows are", "x\ny") },
		func(m *Model) { m.AddImage("shot.png") },
		func(m *Model) { run(m, m.InsertText("@s")) },
		func(m *Model) { m.Click(3, 1) },
		func(m *Model) { m.ClickPopup(1) },
		func(m *Model) { m.Blur(); m.Focus() },
		func(m *Model) { m.Update(keys("@")[0]) }, // and nobody runs the command
	)
}

// sound is what holds of every composer at any time.
func sound(t *testing.T, m *Model, width, height int) {
	t.Helper()
	b := &m.buf
	if b.at < 0 || b.at > len(b.atoms) {
		t.Fatalf("the cursor is at %d of %d", b.at, len(b.atoms))
	}
	if again := recut(b.atoms); !cmp.Equal(plain(again), plain(b.atoms)) || len(again) != len(b.atoms) {
		t.Fatalf("%q is not what people see as characters", seen(m))
	}
	if text.Clean(m.Text()) != m.Text() {
		t.Fatalf("%q could do something to a terminal", m.Text())
	}
	lines, x, y, popup := m.View(width, height, look(t, "none"))
	if len(lines) < 1 || len(lines) > height || len(lines) != m.Height(width, height) {
		t.Fatalf("%d lines of %d, said %d", len(lines), height, m.Height(width, height))
	}
	if x < 0 || x >= width || y < 0 || y >= len(lines) {
		t.Fatalf("the cursor is at %d,%d of %d,%d", x, y, width, len(lines))
	}
	for _, l := range append(lines, popup...) {
		if w := text.Width(l); w > width || strings.ContainsAny(l, "\n\t\r") {
			t.Fatalf("%q has %d cells of %d", l, w, width)
		}
	}
}

func FuzzKeys(f *testing.F) {
	all := acts()
	f.Add([]byte{}, uint8(20))
	f.Add([]byte("\x00\x01\x02\x20\x21\x22\x23\x24\x25"), uint8(1))
	for i := range all {
		f.Add([]byte{30, byte(i), 40, byte(i), 35, byte(i), 36, byte(i)}, uint8(i%30))
	}
	f.Fuzz(func(t *testing.T, script []byte, size uint8) {
		m := New(sample())
		width, height := int(size%40)+1, int(size/40)+1
		for _, c := range script[:min(len(script), 200)] {
			all[int(c)%len(all)](m)
			sound(t, m, width, height)
			if len(m.buf.atoms) > 2000 { // yanking doubles it each time
				m.Clear()
			}
		}
	})
}
