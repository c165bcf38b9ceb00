package script_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/backend/script"
	"conclave/internal/event"
)

func TestSeam(t *testing.T) {
	for _, owns := range []bool{false, true} {
		for _, pace := range []float64{0, 0.001} {
			t.Run(fmt.Sprintf("owns=%v/pace=%v", owns, pace), func(t *testing.T) {
				backendtest.Run(t, func(t *testing.T, s backendtest.Scene) backend.Backend {
					if pace > 0 && s.Name == "huge text" {
						t.Skip("word by word it is mostly waiting")
					}
					return script.New(mustParse(t, write(s, owns)), script.Options{Pace: &pace})
				})
			})
		}
	}
}

// write is a scene as a script.
func write(s backendtest.Scene, owns bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "name: scene\nword: 1ms\nowns_loop: %v\nsteps:\n", owns)
	for i, r := range s.Replies {
		fmt.Fprintf(&b, "  - when: {call: %d%s}\n    do:\n", i+1, needs(r.Needs))
		actions(&b, r)
	}
	b.WriteString("  - do: [{fail: {kind: invalid, message: not what the scene needs}}]\n")
	return b.String()
}

// needs is a condition, in the flow style.
func needs(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return ", sees: [" + strings.Join(all, ", ") + "]"
}

func actions(b *strings.Builder, r backendtest.Reply) {
	do := func(format string, args ...any) { fmt.Fprintf(b, "      - "+format+"\n", args...) }
	for _, p := range r.Parts {
		switch {
		case p.Call != nil:
			do("tool: {name: %s, raw: %s}", p.Call.Name, strconv.Quote(p.Call.Input))
		case p.Thinking != "":
			do("think: %s", strconv.Quote(p.Thinking))
		default:
			do("say: %s", strconv.Quote(p.Text))
		}
	}
	if r.Usage != (event.Usage{}) {
		do("usage: {input: %d, output: %d}", r.Usage.Input, r.Usage.Output)
	}
	switch {
	case r.Cut:
		do("cut")
	case r.Hang:
		do("hang")
	case r.Fail != nil:
		do("fail: {kind: %s, retry_after: %s, message: as the scene says}", r.Fail.Kind, r.Fail.RetryAfter)
	default:
		do("stop: %s", r.StopReason())
	}
}
