// Package rpc speaks JSON-RPC with an agent that is a program: a message a line,
// and either side may ask the other.
//
// A [Link] goes with a process and outlives turns. An [Exchange] is one turn's use
// of it: one goroutine handles everything the program says, in order, and what
// takes long is done beside it ([Exchange.Beside]) and comes back to it. So a turn
// needs no locks, and a program that says more than is listened to has to wait.
//
// What the program asks while nobody listens waits for the next exchange.
//
// Goroutines: an Exchange owns those of what is done beside it; Close waits for them.
package rpc

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A Message is a request (a method and an ID), a notification (a method alone) or
// a response (an ID alone).
type Message struct {
	Version string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`

	garbled error // the line could not be read
}

// Asks reports whether the message wants an answer.
func (m Message) Asks() bool { return m.Method != "" && m.ID != nil }

// An Error is how a request was refused.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string {
	if len(e.Data) > 0 && !bytes.Equal(e.Data, []byte("null")) {
		return fmt.Sprintf("%s (%d): %.400s", e.Message, e.Code, e.Data)
	}
	return fmt.Sprintf("%s (%d)", e.Message, e.Code)
}

// Codes of errors.
const (
	NotFound = -32601 // there is no such method
	Invalid  = -32602 // the parameters make no sense
	Internal = -32603
)

// parse reads a line. Programs now and then write words of their own among their
// messages; what does not even begin like a message is none.
func parse(line []byte) (m Message, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return Message{}, false
	}
	if err := json.Unmarshal(line, &m); err != nil {
		return Message{garbled: fmt.Errorf("%w in %.200q", err, line)}, true
	}
	if m.ID != nil && bytes.Equal(m.ID, []byte("null")) {
		m.ID = nil
	}
	return m, true
}
