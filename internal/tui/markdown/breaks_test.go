package markdown

import "testing"

func TestBreaks(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"one":                           "one",
		"one\ntwo\n\nthree":             "one  \ntwo  \n\nthree",
		"a\r\nb":                        "a  \nb",
		"see\n```\nx = 1\ny\n```\na\nb": "see  \n```\nx = 1\ny\n```\na  \nb",
		"~~~\n```\na\n~~~\nb\nc":        "~~~\n```\na\n~~~\nb  \nc",
	} {
		if got := Breaks(in); got != want {
			t.Errorf("Breaks(%q) = %q, want %q", in, got, want)
		}
	}
}
