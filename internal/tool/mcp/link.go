package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"conclave/internal/proc"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// farewell is how long a server may take to end by itself when nothing more
	// will come, before it is told to.
	farewell = 500 * time.Millisecond
	// goodbye is how long a server reached by HTTP may take to be told.
	goodbye = 2 * time.Second
	// settle is how long a session takes at most to notice that it is over.
	settle = 100 * time.Millisecond
	// keptErrors is how much of the beginning and of the end of what a server
	// says on its standard error is kept.
	keptErrors = 4 << 10
)

// What is tried in turn. The newest protocol is "", in which the SDK goes back to
// older ones by itself. A program is asked for the older one first: one that
// knows only that may end when it hears of the newer.
var (
	ofPrograms  = []string{"2025-11-25", ""}
	ofAddresses = []string{"", "2025-11-25"}
)

// A link is a connection with a server that has answered.
type link struct {
	session *sdk.ClientSession
	ctx     context.Context // of the calls over it
	drop    context.CancelFunc
	abort   func()        // ends what is under way, at once
	shut    func()        // ends the transport and the program behind it; waits
	flaw    func() error  // what the server did wrong, if it did
	exit    func() error  // how its program ended, if it did by itself
	stderr  *proc.Capture // nil for one without a program
	broken  func() bool   // it is over or about to be, if a call has just failed
	poll    bool          // it does not tell when its tools change
	over    chan struct{} // closed when it has ended
	cause   error         // why, valid then
}

// A dial is what is needed to reach a server.
type dial struct {
	server  *server
	version string
	look    *lookup
}

// connect makes a link, or says why there is none and what the server said. When
// ctx ends there is none.
func (d *dial) connect(ctx context.Context) (l *link, said string, err error) {
	versions := ofAddresses
	if d.server.program() {
		versions = ofPrograms
	}
	for _, v := range versions {
		if l, said, err = d.try(ctx, v); err == nil {
			return l, "", nil
		}
		if ctx.Err() != nil || d.server.program() && refusal(err) == nil {
			break // it would fail again
		}
	}
	return nil, said, err
}

// try connects with one version of the protocol.
func (d *dial) try(ctx context.Context, version string) (_ *link, said string, err error) {
	l := &link{over: make(chan struct{})}
	l.ctx, l.drop = context.WithCancel(context.Background())
	var t sdk.Transport
	if d.server.program() {
		t, err = d.program(ctx, l)
	} else {
		t, err = d.address(l)
	}
	if err != nil {
		l.drop()
		return nil, "", err
	}
	o := &sdk.ClientOptions{
		// Nothing is offered: no roots, no sampling, no questions to the user.
		Capabilities:   &sdk.ClientCapabilities{},
		MultiRoundTrip: &sdk.MultiRoundTripOptions{Disabled: true},
	}
	if !l.poll { // or a stream would be held open for it
		o.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) { d.server.changed() }
	}
	c := sdk.NewClient(&sdk.Implementation{Name: "conclave", Version: d.version}, o)
	stop := context.AfterFunc(ctx, l.abort)
	l.session, err = c.Connect(ctx, t, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		err = d.explain(ctx, l, err)
		l.drop()
		l.shut()
		return nil, l.said(), err
	}
	return l, "", nil
}

// program starts a server that is one.
func (d *dial) program(ctx context.Context, l *link) (sdk.Transport, error) {
	g := d.server.gear
	argv, err := d.look.all(g.Command)
	if err != nil {
		return nil, err
	}
	env, err := d.look.environment(g.Env)
	if err != nil {
		return nil, err
	}
	theirs, ours, err := pipes()
	if err != nil {
		return nil, fmt.Errorf("start the program: %w", err)
	}
	l.stderr = proc.NewCapture(keptErrors, keptErrors)
	// The link ends the program; ctx is over when the start is.
	p, err := proc.Start(context.WithoutCancel(ctx), proc.Command{
		Argv: argv, Dir: g.Dir, Env: env, Stdin: theirs[0], Stdout: theirs[1], Stderr: l.stderr,
		Flow: d.server.set.o.Flow, Records: d.server.set.o.Records,
	})
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	t := newPipe(ours[0], ours[1], d.server.changed)
	l.abort = func() {} // nothing over a pipe waits for long
	l.shut = func() {
		t.hangUp()
		await(p.Done(), farewell)
		p.Stop()
		_ = t.Close()
	}
	l.flaw, l.broken = t.why, t.isBroken
	l.exit = func() error {
		if !await(p.Done(), farewell) {
			return errors.New("it has closed its standard output")
		}
		return status(p)
	}
	return t, nil
}

// status is how a program has ended.
func status(p *proc.Process) error {
	if exit, _ := p.Wait(); exit <= 128 {
		return fmt.Errorf("its program has ended with status %d", exit)
	} else {
		return fmt.Errorf("its program was ended by signal %d", exit-128)
	}
}

// await waits for something, and not for ever.
func await(done <-chan struct{}, most time.Duration) bool {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-t.C:
		return false
	}
}

// pipes are the ends of the server and ours: its input, its output.
func pipes() (theirs, ours []*os.File, err error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		closeAll([]*os.File{inR, inW})
		return nil, nil, err
	}
	return []*os.File{inR, outW}, []*os.File{inW, outR}, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// address reaches a server that is one.
func (d *dial) address(l *link) (sdk.Transport, error) {
	g := d.server.gear
	u, err := d.look.expand(g.URL)
	if err != nil {
		return nil, err
	}
	headers, err := d.look.each(g.Headers)
	if err != nil {
		return nil, err
	}
	r, err := newRoad(u, headers)
	if err != nil {
		return nil, err
	}
	l.poll, l.abort = true, r.close
	l.flaw, l.exit = nothing, nothing
	// It may fail once and go on; which it is shows at once.
	l.broken = func() bool { return await(l.ctx.Done(), settle) }
	l.shut = func() {
		if l.session != nil {
			t := time.AfterFunc(goodbye, r.close)
			_ = l.session.Close()
			t.Stop()
		}
		r.close()
		r.base.CloseIdleConnections()
	}
	// No stream is held open for news: the list is read again for every turn.
	return &sdk.StreamableClientTransport{Endpoint: u, HTTPClient: r.client(), MaxRetries: 2, MaxEventSize: maxMessage + 1<<10, DisableStandaloneSSE: true}, nil
}

func nothing() error { return nil }

// explain is why a connection could not be made, as well as it is known.
func (d *dial) explain(ctx context.Context, l *link, err error) error {
	late := errors.Is(context.Cause(ctx), context.DeadlineExceeded)
	switch {
	case late && l.flaw() != nil:
		return fmt.Errorf("it was not ready within %s: %w", d.server.start(), l.flaw())
	case late && l.poll:
		return fmt.Errorf("it did not answer within %s; see whether its url is right, or give it more time with start_timeout", d.server.start())
	case late:
		return fmt.Errorf("it was not ready within %s; give it more time with start_timeout if it needs that", d.server.start())
	case ctx.Err() != nil || refusal(err) != nil:
		return err
	case strings.Contains(err.Error(), "Unauthorized") || strings.Contains(err.Error(), "Forbidden"):
		return fmt.Errorf("it does not let us in: %w; give a token in headers, such as Authorization: Bearer ${NAME}", err)
	}
	return l.why(err)
}

// refusal is the answer of a server that will not do what it was asked; nil if
// err is none.
func refusal(err error) *jsonrpc.Error {
	const rejected = -32005 // the SDK's own, for what did not reach the server
	if e, ok := errors.AsType[*jsonrpc.Error](err); ok && e.Code != rejected {
		return e
	}
	return nil
}

// watch is over when the link is, because the server has ended it or we have,
// and tells of it.
func (l *link) watch(lost func(*link)) {
	defer close(l.over)
	err := l.session.Wait()
	l.drop()
	l.cause = l.why(err)
	l.shut()
	_ = l.session.Close() // there may be something of its own left
	lost(l)
}

// end ends the link, and returns when it has.
func (l *link) end() {
	l.drop() // calls first: the session waits for them
	l.shut()
	<-l.over
}

// why is how it came to its end, err if nothing better is known.
func (l *link) why(err error) error {
	flaw, exit := l.flaw(), l.exit()
	switch {
	case flaw != nil && exit != nil:
		return fmt.Errorf("%w; %w", flaw, exit)
	case flaw != nil:
		return flaw
	case exit != nil:
		return exit
	case err == nil:
		return errors.New("it has ended the connection")
	}
	return err
}

// said is what the server wrote to its standard error.
func (l *link) said() string {
	if l.stderr == nil {
		return ""
	}
	return clean(l.stderr.String(), 2*keptErrors+100)
}
