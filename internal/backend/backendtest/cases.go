package backendtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// cases are all scenes, in the order to read them.
func cases() []testcase {
	return slices.Concat(speaking(), calling(), failing(), ending(), owning())
}

// said checks a reply without tools against the scene's first.
func said(k *checker) {
	want := k.scene.Replies[0]
	got := k.say()
	if got.err != nil {
		k.errorf("failed: %v", got.err)
	}
	equal(k, "text", got.text, want.Text())
	equal(k, "thinking", got.thinking, want.Thinking())
	equal(k, "stop", got.stop, want.StopReason())
}

// speaking: what one reply without tools can be.
func speaking() []testcase {
	one := func(name string, r Reply, check func(*checker)) testcase {
		return testcase{Scene{Name: name, Replies: []Reply{r}}, check}
	}
	return []testcase{
		one("text", Reply{Parts: []Part{text("Hello, "), text("world.")}}, said),
		one("text in any script", Reply{Parts: []Part{text("naïve — “日本語” \U0001D11E <b>&amp;</b>\n\ttab \\ \" ' ` {} end")}}, said),
		one("thinking", Reply{Parts: []Part{thinking("Hm, "), thinking("let me see."), text("Yes.")}}, said),
		one("thinking alone", Reply{Parts: []Part{thinking("Nothing comes of it.")}}, said),
		one("empty", Reply{}, said),
		one("huge text", Reply{Parts: []Part{text(strings.Repeat("All work and no play. é\n", 12_000))}}, said),
		one("stopped by length", Reply{Parts: []Part{text("And then the")}, Stop: "length"}, said),
		one("usage", Reply{Parts: []Part{text("Cheap.")}, Usage: event.Usage{Input: 1234, Output: 56}}, func(k *checker) {
			got := k.say()
			equal(k, "input tokens", got.usage.Input, 1234)
			equal(k, "output tokens", got.usage.Output, 56)
		}),
		one("everything is sent", Reply{Needs: []string{"needleSystem", "needleUser", "lookup", "store"}, Parts: []Part{text("Got it.")}}, said),
		{Scene{Name: "history", Replies: []Reply{{Parts: []Part{text("first")}}, {
			Needs: []string{"needleUser", "needleEarlier", "needleNow"}, Parts: []Part{text("second")},
		}}}, history},
		one("concurrent turns", Reply{Parts: []Part{text("One "), text("of many.")}}, concurrent),
	}
}

// history: a conversation that others have begun is sent whole.
func history(k *checker) {
	if k.backend.Traits().NativeHistory {
		return // it was not there
	}
	in := opening()
	in.Messages = append(in.Messages,
		backend.Message{From: backend.Assistant, Text: "I said needleEarlier."},
		backend.Message{From: backend.User, Text: "And needleNow?"})
	got := k.converse(k.ctx, in, nothing)
	if got.err != nil {
		k.errorf("failed: %v", got.err)
	}
	equal(k, "text", got.text, "second")
}

func concurrent(k *checker) {
	if k.backend.Traits().NativeHistory {
		return // one conversation at a time
	}
	checkers := make([]*checker, 8)
	var wg sync.WaitGroup
	for i := range checkers {
		c := &checker{ctx: k.ctx, backend: k.backend, scene: k.scene}
		checkers[i] = c
		wg.Go(func() { said(c) })
	}
	wg.Wait()
	for _, c := range checkers {
		k.found = append(k.found, c.found...)
	}
}

// calling: tools, and what becomes of their results.
func calling() []testcase {
	last := Reply{Needs: []string{"resultOfLookup"}, Parts: []Part{text("Seen.")}}
	two := func(name string, first, second Reply, check func(*checker)) testcase {
		return testcase{Scene{Name: name, Replies: []Reply{first, second}}, check}
	}
	return []testcase{
		two("one call", Reply{Parts: []Part{call("lookup", `{"key":"a"}`)}}, last, called),
		two("text and a call", Reply{Parts: []Part{text("Let me look. "), call("lookup", `{"key":"a"}`)}}, last, called),
		two("several calls", Reply{Parts: []Part{
			call("lookup", `{"key":"a"}`), call("store", `{"key":"b","value":"{\"deep\":[1,2.5,null]}"}`), call("lookup", `{"key":"c"}`),
		}}, Reply{Needs: []string{"resultOfLookup", "resultOfStore"}, Parts: []Part{text("All seen.")}}, called),
		two("call without input", Reply{Parts: []Part{call("lookup", "")}}, last, called),
		two("call with broken JSON", Reply{Parts: []Part{call("lookup", `{"key": "a`)}}, last, called),
		two("call of an unknown tool", Reply{Parts: []Part{call("vanish", `{}`)}}, Reply{Needs: []string{"resultOfVanish"}, Parts: []Part{text("Oh.")}}, called),
		two("usage of several calls", Reply{Parts: []Part{call("lookup", `{"key":"a"}`)}, Usage: event.Usage{Input: 100, Output: 10}},
			Reply{Parts: []Part{text("Done.")}, Usage: event.Usage{Input: 200, Output: 20}}, func(k *checker) {
				got := k.converse(k.ctx, opening(), resultOf)
				equal(k, "input tokens", got.usage.Input, 300)
				equal(k, "output tokens", got.usage.Output, 30)
			}),
	}
}

// resultOf answers "lookup" with "resultOfLookup". A tool nobody offered is an
// error the agent is told of.
func resultOf(c event.ToolCall) backend.ToolResult {
	known := slices.ContainsFunc(tools, func(s backend.ToolSpec) bool { return s.Name == c.Name })
	return backend.ToolResult{Text: "resultOf" + strings.ToUpper(c.Name[:1]) + c.Name[1:], Error: !known}
}

// called checks a conversation of two replies with calls in the first.
func called(k *checker) {
	first, second := k.scene.Replies[0], k.scene.Replies[1]
	got := k.converse(k.ctx, opening(), resultOf)
	if got.err != nil {
		k.errorf("failed: %v", got.err)
	}
	equal(k, "text", got.text, first.Text()+second.Text())
	equal(k, "stop", got.stop, second.StopReason())

	var want, have []string
	for _, c := range first.Calls() {
		want = append(want, c.Name+" "+canonical(backend.Arguments(c.Input)))
	}
	ids := map[string]bool{}
	for _, c := range got.calls {
		if !json.Valid(c.Input) {
			k.errorf("the input of %s is not JSON: %s", c.Name, c.Input)
		}
		have = append(have, c.Name+" "+canonical(c.Input))
		if ids[c.ID] {
			k.errorf("two calls have the ID %s", c.ID)
		}
		ids[c.ID] = true
	}
	if k.backend.Traits().OwnsLoop { // it may call in any order, or all at once
		slices.Sort(want)
		slices.Sort(have)
	}
	equal(k, "calls", strings.Join(have, "; "), strings.Join(want, "; "))
}

// canonical is JSON without differences that mean nothing.
func canonical(p json.RawMessage) string {
	var v any
	if err := json.Unmarshal(p, &v); err != nil {
		return "invalid: " + string(p)
	}
	out, err := json.Marshal(v)
	return cmp.Or(string(out), fmt.Sprint(err))
}

// failing: what a provider may report, and what a stream may do.
func failing() []testcase {
	var out []testcase
	for _, kind := range []backend.ErrorKind{
		backend.Auth, backend.Invalid, backend.RateLimited, backend.Overloaded, backend.Unreachable,
		backend.TimedOut, backend.Truncated, backend.Garbled, backend.Declined, backend.Broken,
	} {
		f := &Failure{Kind: kind}
		if kind == backend.RateLimited {
			f.RetryAfter = 7 * time.Second
		}
		out = append(out, testcase{Scene{Name: "error " + string(kind), Replies: []Reply{{Fail: f}}}, failed})
	}
	after := []Part{text("So far so ")}
	return append(out,
		testcase{Scene{Name: "error in mid-stream", Replies: []Reply{{Parts: after, Fail: &Failure{Kind: backend.Overloaded}}}}, failed},
		testcase{Scene{Name: "cut in mid-stream", Replies: []Reply{{Parts: after, Cut: true}}}, failed},
		testcase{Scene{Name: "cut after a call", Replies: []Reply{{Parts: []Part{call("lookup", `{"key":"a"}`)}, Cut: true}}}, failed},
		testcase{Scene{Name: "cut before anything", Replies: []Reply{{Cut: true}}}, failed},
	)
}

// failed checks that a reply ends with the error the scene asks for and that
// what was said before it is there.
func failed(k *checker) {
	want := k.scene.Replies[0]
	kind, after := backend.Truncated, time.Duration(0)
	if want.Fail != nil {
		kind, after = want.Fail.Kind, want.Fail.RetryAfter
	}
	got := k.say()
	if got.err == nil {
		k.errorf("did not fail")
		return
	}
	equal(k, fmt.Sprintf("kind of %v", got.err), backend.KindOf(got.err), kind)
	equal(k, "text before it", got.text, want.Text())
	if e, ok := errors.AsType[*backend.Error](got.err); !ok {
		k.errorf("%v is not a backend.Error", got.err)
	} else {
		equal(k, "retry after", e.RetryAfter, after)
	}
}
