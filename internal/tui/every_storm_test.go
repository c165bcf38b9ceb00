package tui_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/tui"
)

// Whatever is pressed, typed, pasted, clicked and resized, in whatever order: the
// window stands, every frame is exactly as large as the terminal, and nothing in
// it is for the terminal to act upon but styles.
func TestKeyStorm(t *testing.T) {
	t.Chdir(t.TempDir())
	sizes := [][2]int{{80, 24}, {40, 12}, {20, 6}, {200, 50}, {1, 1}}
	for i, p := range plights() {
		t.Run(p.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(4, uint64(i)))
			s := &seat{t: t, plight: p}
			s.sit(80, 24)
			keys := everyKey(s.r.Model())
			w, h := 80, 24
			var done []string
			for range storm {
				if s.r.Closed() {
					s.sit(80, 24)
					w, h = 80, 24
				}
				what := ""
				switch n := rng.IntN(100); {
				case n < 4:
					size := sizes[rng.IntN(len(sizes))]
					w, h = size[0], size[1]
					what = fmt.Sprintf("%d×%d", w, h)
					s.r.Resize(w, h)
				case n < 10:
					x, y := rng.IntN(w), rng.IntN(h)
					what = fmt.Sprintf("click %d,%d", x, y)
					s.r.ClickAt(x, y)
				case n < 13:
					what = "wheel"
					s.r.Wheel(rng.IntN(9) - 4)
				case n < 16:
					what = "paste"
					s.r.Paste(strings.Repeat("pasted \x1b[31mtext\x07 日本\n", rng.IntN(30)+1))
				case n < 18:
					what = "focus"
					s.r.Send([]tea.Msg{tea.FocusMsg{}, tea.BlurMsg{}}[rng.IntN(2)])
				case n < 22:
					what = "time"
					s.clock.pass(time.Duration(rng.IntN(100_000)) * time.Millisecond)
				default:
					what = keys[rng.IntN(len(keys))]
					s.r.Press(what)
				}
				done = append(done, what)
				if why := tui.Misfit(s.r.Raw(), w, h); why != "" {
					t.Fatalf("after %q: %s\n%s", done[max(len(done)-12, 0):], why, s.r.Screen())
				}
			}
			if !s.r.Closed() {
				s.r.Resize(80, 24)
				s.rest()
				if !s.r.Closed() && !s.answers() {
					t.Errorf("the window does not answer after the storm\n%s", s.r.Screen())
				}
			}
		})
	}
}

// everyKey is every key of the table, and enough besides to type with. A shell
// line is not begun: nobody knows what a storm would have it do.
func everyKey(m *tui.Model) []string {
	var out []string
	for _, a := range m.Table() {
		out = append(out, a.Keys...)
	}
	slices.Sort(out)
	out = slices.Compact(out)
	out = append(out, strings.Fields("a e i o t n / @ space enter enter esc esc esc up down left right home end pgup pgdown backspace tab ctrl+a ctrl+k ctrl+y ctrl+r ctrl+_ alt+d 日 é 👩")...)
	return slices.DeleteFunc(out, func(k string) bool { return k == "!" })
}
