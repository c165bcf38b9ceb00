package rpc

import (
	"encoding/json"
	"strconv"
	"sync"

	"conclave/internal/backend/cli"
)

// A Link is a process that is spoken with.
type Link struct {
	// Version is what "jsonrpc" says in what is sent; empty leaves it out.
	Version string
	// Keep says which notifications are kept for the next exchange if nobody
	// listens; nil is none. Requests always are.
	Keep func(Message) bool

	proc *cli.Process
	next int64 // the last ID used

	mu   sync.Mutex
	ear  *ear // whoever listens, if anybody does
	kept []Message
}

// An ear is what an exchange hears with.
type ear struct {
	c      chan Message
	closed chan struct{}
}

// Bind says which process the link goes to, once, before anything is sent. The
// process is started with the link's Hear.
func (l *Link) Bind(p *cli.Process) { l.proc = p }

// Process is what the link goes to.
func (l *Link) Process() *cli.Process { return l.proc }

// Hear takes a line of the program's. It waits until somebody has listened.
func (l *Link) Hear(line []byte) {
	m, ok := parse(line)
	for ok {
		e := l.listener(m)
		if e == nil {
			return
		}
		select {
		case e.c <- m:
			return
		case <-e.closed: // somebody else may listen, or nobody
		}
	}
}

// listener is who listens; if nobody does, the message is kept or let go.
func (l *Link) listener(m Message) *ear {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ear == nil && (m.garbled != nil || m.Asks() || m.Method != "" && l.Keep != nil && l.Keep(m)) {
		l.kept = append(l.kept, m)
	}
	return l.ear
}

// listen makes an ear, and gives what was kept for it.
func (l *Link) listen() (*ear, []Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	kept := l.kept
	l.ear, l.kept = &ear{c: make(chan Message), closed: make(chan struct{})}, nil
	return l.ear, kept
}

func (l *Link) unlisten(e *ear) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ear = nil
	close(e.closed)
}

// ask sends a request.
func (l *Link) ask(method string, params any) (id string, err error) {
	p, err := json.Marshal(params)
	if err != nil {
		return "", err
	}
	l.next++
	id = strconv.FormatInt(l.next, 10)
	return id, l.proc.Send(Message{Version: l.Version, ID: json.RawMessage(id), Method: method, Params: p})
}

// Tell sends a notification.
func (l *Link) Tell(method string, params any) error {
	m := Message{Version: l.Version, Method: method}
	if params != nil {
		p, err := json.Marshal(params)
		if err != nil {
			return err
		}
		m.Params = p
	}
	return l.proc.Send(m)
}

// Answer answers a request.
func (l *Link) Answer(to Message, result any) error {
	p, err := json.Marshal(result)
	if err != nil {
		return err
	}
	return l.proc.Send(Message{Version: l.Version, ID: to.ID, Result: p})
}

// Refuse answers a request with an error.
func (l *Link) Refuse(to Message, code int, why string) error {
	return l.proc.Send(Message{Version: l.Version, ID: to.ID, Error: &Error{Code: code, Message: why}})
}
