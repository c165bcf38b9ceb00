package shot

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// A picture is well-formed whatever the text, and shows it in its colours.
func TestSVG(t *testing.T) {
	got := SVG("\x1b[1;38;2;255;0;16mred <b>\x1b[m plain 日本\n\x1b[7minverse\x1b[27m \x1b[38;5;196mindexed\x1b[39m", 40, Dark)
	for _, want := range []string{`fill="#ff0010"`, `font-weight="bold"`, "red &lt;b&gt;", "日本", "#ff0000", `fill="` + Dark.Back + `"`, "inverse"} {
		if !strings.Contains(got, want) {
			t.Errorf("the picture lacks %s\n%s", want, got)
		}
	}
	d := xml.NewDecoder(strings.NewReader(got))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
