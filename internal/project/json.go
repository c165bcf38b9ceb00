package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Problem is a file that cannot be understood. It stays as it is until somebody
// has mended it.
type Problem struct {
	File         string
	Line, Column int // from one; zero if it is about the whole file
	Why          string
	Do           string
}

func (p *Problem) Error() string {
	at := p.File
	if p.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
	}
	return fmt.Sprintf("%s: %s; %s", at, p.Why, p.Do)
}

// problem is what is wrong with a file at an offset.
func (f *folder) problem(name string, src []byte, offset int64, why, do string) *Problem {
	before := src[:min(max(offset, 0), int64(len(src)))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return &Problem{
		File: f.path(name), Line: bytes.Count(before, []byte{'\n'}) + 1,
		Column: utf8.RuneCount(before[line:]) + 1, Why: why, Do: do,
	}
}

// invalidAt is where p stops being UTF-8.
func invalidAt(p []byte) int64 {
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			return int64(i)
		}
		i += n
	}
	return int64(len(p))
}

// decode reads a file of ours. The error is a *Problem; form says what it should
// hold.
func (f *folder) decode(name string, src []byte, into any, form string) error {
	err := json.Unmarshal(src, into)
	if err == nil {
		return nil
	}
	at, why := fault(src, err)
	return f.problem(name, src, at, why, "make it "+form)
}

// fault is where JSON is wrong, and how.
func fault(src []byte, err error) (int64, string) {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		if strings.HasPrefix(e.Error(), "unexpected end") {
			return int64(len(src)), "it is not JSON: " + e.Error()
		}
		return max(e.Offset-1, 0), "it is not JSON: " + e.Error()
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := ""
		if e.Field != "" {
			where = fmt.Sprintf(" at %q", e.Field)
		}
		return max(e.Offset-1, 0), fmt.Sprintf("a %s%s is not what belongs there", e.Value, where)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return int64(len(src)), "it ends too early"
	}
	return 0, err.Error()
}

// A member is one of an object, as it was written.
type member struct {
	key   string
	value json.RawMessage
	at    int64 // of the value, in the file
}

// members takes an object apart without losing anything. Wrong is why it cannot.
func members(src []byte) (out []member, at int64, wrong string) {
	if !json.Valid(src) {
		var any json.RawMessage
		at, wrong = fault(src, json.Unmarshal(src, &any))
		return nil, at, wrong
	}
	d := json.NewDecoder(bytes.NewReader(src))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, start(src, 0), "it is not an object"
	}
	seen := map[string]bool{}
	for d.More() {
		at := start(src, d.InputOffset())
		t, err := d.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return nil, at, "it is not an object"
		}
		if seen[key] {
			return nil, at, fmt.Sprintf("%q is there twice", key)
		}
		seen[key] = true
		m := member{key: key, at: start(src, d.InputOffset())}
		if err := d.Decode(&m.value); err != nil {
			return nil, m.at, err.Error()
		}
		out = append(out, m)
	}
	return out, 0, ""
}

// start is where the next token begins.
func start(src []byte, at int64) int64 {
	for at < int64(len(src)) && bytes.IndexByte([]byte(" \t\r\n,:"), src[at]) >= 0 {
		at++
	}
	return at
}

// object is members put together again, as people read them.
func object(all []member) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := plainJSON(m.key)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// plainJSON leaves <, > and & as they are.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
