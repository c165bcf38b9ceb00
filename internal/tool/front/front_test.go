package front_test

import (
	"strings"
	"testing"

	"conclave/internal/tool/front"
)

type head struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		src        string
		head       head
		body, fail string
	}{
		"plain":          {"---\nname: a\ndescription: b c\n---\n\nText\n---\nmore\n", head{"a", "b c"}, "Text\n---\nmore\n", ""},
		"windows":        {"\uFEFF---\r\nname: a\r\n---\r\nText\r\n", head{Name: "a"}, "Text\n", ""},
		"folded, nested": {"---\nname: \"a\"\ndescription: >\n  b\n  c\nmetadata:\n  x: [1, 2]\n---\nT", head{"a", "b c\n"}, "T", ""},
		"nothing after":  {"---\nname: a\n---", head{Name: "a"}, "", ""},
		"empty":          {"---\n---\nT", head{}, "T", ""},
		"none":           {"# Title", head{}, "", "does not begin with front matter"},
		"open":           {"---\nname: a\n", head{}, "", "has no end"},
		"broken":         {"---\nname: [a\n---\n", head{}, "", "no YAML we can read"},
		"wrong kind":     {"---\nname: {a: b}\n---\n", head{}, "", "no YAML we can read"},
		"huge":           {"---\nname: " + strings.Repeat("a", 20000) + "\n---\n", head{}, "", "20007 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			var got head
			body, err := front.Read([]byte(c.src), &got)
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) || strings.Contains(err.Error(), "\n") {
					t.Errorf("error %v, want %q", err, c.fail)
				}
				return
			}
			if err != nil || body != c.body || got != c.head {
				t.Errorf("%+v, %q, %v", got, body, err)
			}
		})
	}
}

// What was written reads the same, whatever characters are in it.
func TestRoundTrip(t *testing.T) {
	for _, d := range []string{"a: b # c", `"q" 'r'`, "- x", "---", "é ✓", "line\nline", "true", "007", "{a}", "", "a\n---\nb"} {
		src, err := front.Write(head{"n", d}, "Text\n\n---\nmore\n\n")
		if err != nil {
			t.Fatal(err)
		}
		var got head
		body, err := front.Read(src, &got)
		if err != nil || got.Description != d || body != "Text\n\n---\nmore\n" {
			t.Errorf("%q: %+v, %q, %v from\n%s", d, got, body, err, src)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("---\nname: a\n---\nText"))
	f.Add([]byte("---\nname: &a [*a, *a]\nx: <<: *a\n---\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		var h head
		_, _ = front.Read(src, &h)
	})
}
