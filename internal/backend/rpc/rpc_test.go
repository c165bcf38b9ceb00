package rpc_test

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start begins a shell script that speaks.
func start(t *testing.T, script string) *rpc.Link {
	t.Helper()
	l := &rpc.Link{Version: "2.0"}
	p, err := cli.Start(t.Context(), clitest.NewRoom(t), cli.Command{Argv: []string{"sh", "-c", script}, Hear: l.Hear})
	if err != nil {
		t.Fatal(err)
	}
	l.Bind(p)
	t.Cleanup(p.Stop)
	return l
}

func exchange(t *testing.T, l *rpc.Link, handle func(rpc.Message) error) *rpc.Exchange {
	c := cli.NewClock("sh", backend.Program{})
	t.Cleanup(c.Stop)
	return l.Exchange(c, handle)
}

// What the program asks while nobody listens is there for who listens next; what
// it only tells is not.
func TestKept(t *testing.T) {
	l := start(t, `read go; echo '{"method":"told"}'; echo '{"id":"q","method":"asked","params":{"n":7}}'; echo '{"id":1,"result":{}}'; cat`)
	x := exchange(t, l, func(rpc.Message) error { return nil })
	if err := x.Ask("go", nil, func(rpc.Message) error { return nil }); err != nil {
		t.Fatal(err)
	}
	x.Close()
	var got []string
	x = exchange(t, l, func(m rpc.Message) error {
		got = append(got, m.Method)
		return l.Answer(m, struct{}{}) // which comes back to us
	})
	defer x.Close()
	if err := x.Until(t.Context(), func() bool { return strings.Contains(strings.Join(got, " "), "asked") }); err != nil {
		t.Fatal(err)
	}
}

// A call is answered, refused, or lost with the program; work done beside it comes
// back in between.
func TestCall(t *testing.T) {
	l := start(t, `read a; echo 'Some words.'; echo '{"id":1,"result":{"n":7}}'; read b; echo '{"id":2,"error":{"code":-1,"message":"no","data":{"why":"so"}}}'; read c; echo Oh. >&2; exit 4`)
	x := exchange(t, l, func(rpc.Message) error { return nil })
	defer x.Close()
	done := false
	x.Beside(func() func() error { return func() error { done = true; return nil } })
	var r struct{ N int }
	if err := x.Call(t.Context(), "a", nil, &r); err != nil || r.N != 7 {
		t.Errorf("the first call came to %d, %v", r.N, err)
	}
	if err := x.Until(t.Context(), func() bool { return done }); err != nil {
		t.Error(err)
	}
	refused := (*rpc.Error)(nil)
	if err := x.Call(t.Context(), "b", nil, &r); !errors.As(err, &refused) || refused.Code != -1 || !strings.Contains(err.Error(), "so") {
		t.Errorf("the second came to %v", err)
	}
	if err := x.Call(t.Context(), "c", nil, &r); backend.KindOf(err) != backend.Broken || !strings.Contains(err.Error(), "Oh.") {
		t.Errorf("the third came to %v", err)
	}
	if err := x.Call(t.Context(), "d", nil, &r); backend.KindOf(err) != backend.Broken {
		t.Errorf("the fourth came to %v", err)
	}
}

// A line that begins like a message and is none ends the exchange.
func TestGarbled(t *testing.T) {
	l := start(t, `echo '{"method": '; cat`)
	x := exchange(t, l, func(rpc.Message) error { return nil })
	defer x.Close()
	if err := x.Until(t.Context(), func() bool { return false }); backend.KindOf(err) != backend.Garbled {
		t.Errorf("ended with %v", err)
	}
}
