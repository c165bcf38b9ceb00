package theme_test

import (
	"image/color"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"conclave/internal/tui/theme"
)

// roles are the styles of a theme by name, those of agents included.
func roles(t theme.Theme) map[string]lipgloss.Style {
	out := map[string]lipgloss.Style{}
	v := reflect.ValueOf(t)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && f.Type == reflect.TypeFor[lipgloss.Style]() {
			out[f.Name] = v.Field(i).Interface().(lipgloss.Style)
		}
	}
	for i := range theme.Agents {
		out["Agent "+string(rune('0'+i))] = t.Agent(i)
	}
	return out
}

// luminance and contrast are as WCAG 2 defines them.
func luminance(c color.Color) float64 {
	r, g, b, _ := c.RGBA()
	lin := func(v uint32) float64 {
		x := float64(v) / 0xffff
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(r) + 0.7152*lin(g) + 0.0722*lin(b)
}

func contrast(a, b color.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// has reports whether a style says a colour: no colour is the terminal's own.
func has(c color.Color) bool { _, no := c.(lipgloss.NoColor); return c != nil && !no }

// Every role can be read on the background its theme was made for.
func TestContrast(t *testing.T) {
	for _, name := range theme.Names() {
		for _, dark := range []bool{true, false} {
			th, ok := theme.Named(name, dark)
			if !ok {
				t.Fatalf("there is no theme %s", name)
			}
			if name == "none" {
				continue
			}
			for role, style := range roles(th) {
				fg, bg := style.GetForeground(), style.GetBackground()
				if !has(fg) {
					continue
				}
				if !has(bg) {
					bg = th.Background
				}
				least := 4.5
				if role == "Dim" || role == "Faint" || role == "Border" || role == "Locked" {
					least = 3
				}
				if got := contrast(fg, bg); got < least {
					t.Errorf("%s (dark %v), %s: contrast %.2f, %.1f is the least", name, dark, role, got, least)
				}
			}
			if th.Dark != (luminance(th.Background) < 0.5) {
				t.Errorf("%s says dark %v", name, th.Dark)
			}
		}
	}
}

// Agents that are shown together look different.
func TestAgents(t *testing.T) {
	for _, name := range theme.Names() {
		th, _ := theme.Named(name, true)
		seen := map[string]bool{}
		for i := range theme.Agents {
			seen[th.Agent(i).Render("x")] = true
		}
		if len(seen) != theme.Agents && name != "none" {
			t.Errorf("%s: %d agents have %d looks", name, theme.Agents, len(seen))
		}
		if a, b := th.Agent(-1).Render("x"), th.Agent(theme.Agents-1).Render("x"); a != b {
			t.Errorf("%s: agent -1 looks like %q, not %q", name, a, b)
		}
	}
}

func TestNames(t *testing.T) {
	if _, ok := theme.Named("solarised", true); ok {
		t.Error("there is a theme nobody made")
	}
	if _, ok := theme.Named("contrast-light", true); ok || slices.Contains(theme.Names(), "contrast-light") {
		t.Error("the light look of contrast is a theme of its own")
	}
	for _, name := range theme.Names() {
		th, _ := theme.Named(name, true)
		if th.Name != name && name != "auto" {
			t.Errorf("%s calls itself %q", name, th.Name)
		}
	}
	dark, _ := theme.Named("auto", true)
	light, _ := theme.Named("auto", false)
	if !dark.Dark || light.Dark {
		t.Error("auto does not follow the background")
	}
}

// Without colours there is bold, underlined and reversed, and nothing else.
func TestNone(t *testing.T) {
	th, _ := theme.Named("none", true)
	for role, style := range roles(th) {
		open, closing := theme.Pen(style)
		params := strings.NewReplacer("\x1b[", "", "m", "").Replace(open)
		for p := range strings.SplitSeq(params, ";") {
			if !slices.Contains([]string{"", "1", "4", "7"}, p) {
				t.Errorf("%s writes %q", role, open)
			}
		}
		if (open == "") != (closing == "") || open != "" && closing != ansi.ResetStyle {
			t.Errorf("%s writes %q and then %q", role, open, closing)
		}
	}
}

func TestPen(t *testing.T) {
	s := lipgloss.NewStyle().Bold(true).Foreground(lipgloss.Color("#102030"))
	open, closing := theme.Pen(s)
	if got, want := open+"some text"+closing, s.Render("some text"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
