package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/internal/tool"
)

// trimmed is a text that went through a trimmer in pieces.
func trimmed(s string, piece, limit int) (string, string) {
	t := trimmer{limit: limit}
	var out []byte
	for len(s) > 0 {
		n := min(piece, len(s))
		out = t.add(out, []byte(s[:n]))
		s = s[n:]
	}
	return string(out), strings.TrimSpace(string(t.id))
}

// What is short stays as it was, JSON or not.
func FuzzTrimShort(f *testing.F) {
	f.Add(`{"jsonrpc":"2.0","id":"a\"b","result":{"id":3,"content":["\\","\ud83d\ude00"]}}`, 3)
	f.Add(`}{]["`, 1)
	f.Fuzz(func(t *testing.T, s string, piece int) {
		if len(s) > tool.MaxText || piece < 1 {
			t.Skip()
		}
		if got, _ := trimmed(s, piece, 0); got != s {
			t.Errorf("%q became %q", s, got)
		}
	})
}

// What is long is cut, and stays JSON.
func TestTrimLong(t *testing.T) {
	const limit = 100
	for _, unit := range []string{"a", "é", `\n`, `\"`, `\\`, `\u00e9`, `\ud83d\ude00`, "😀"} {
		for shift := range 12 {
			for _, piece := range []int{1, 7, 1 << 16} {
				long := strings.Repeat("b", shift) + strings.Repeat(unit, 2*limit)
				in := fmt.Sprintf(`{"a":["%s"],"b":{"data":"%s"},"id":17}`, long, strings.Repeat("A", 5*limit))
				out, id := trimmed(in, piece, limit)
				var v struct {
					A []string
					B struct{ Data string }
				}
				if err := json.Unmarshal([]byte(out), &v); err != nil {
					t.Fatalf("%q by %d: %v", unit, piece, err)
				}
				if n := len(v.A[0]); n > limit+len(cutMark)+utf8.UTFMax || !strings.HasSuffix(v.A[0], "\n[cut here]") || !utf8.ValidString(v.A[0]) {
					t.Errorf("%q by %d: %d bytes, %q", unit, piece, n, v.A[0])
				}
				if len(v.B.Data) != 5*limit {
					t.Errorf("%q by %d: a picture has %d bytes", unit, piece, len(v.B.Data))
				}
				if id != "17" {
					t.Errorf("%q by %d: the id is %q", unit, piece, id)
				}
			}
		}
	}
}

func TestTrimID(t *testing.T) {
	for in, want := range map[string]string{
		`{"id":1}`:               "1",
		`{"id" : "a,}b" ,"x":1}`: `"a,}b"`,
		`{"result":{"id":5},"jsonrpc":"2.0","id":6}`: "6",
		`{"x":"id","y":3}`:                           "",
		`{"id":null}`:                                "null",
	} {
		if _, got := trimmed(in, 1, 0); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

// In a stream of events every line is a message.
func TestBody(t *testing.T) {
	long := strings.Repeat("a", tool.MaxText+5)
	in := "event: message\ndata: {\"x\":\"" + long + "\"}\n\n: it's \"open\ndata: {\"y\":\"" + long + "\"}\n"
	b := &body{ReadCloser: io.NopCloser(strings.NewReader(in)), events: true, end: func() {}}
	got, err := io.ReadAll(b)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(got), "a"+cutMark+`"}`+"\n"); n != 2 || len(got) > 2*tool.MaxText+200 {
		t.Errorf("%d cuts, %d bytes", n, len(got))
	}
	more := io.NopCloser(strings.NewReader(strings.Repeat("[123,45],", maxMessage/8)))
	if _, err := io.ReadAll(&body{ReadCloser: more, end: func() {}}); err == nil {
		t.Error("there is no end to it")
	}
}
