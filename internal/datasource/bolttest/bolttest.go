// Package bolttest is a server that speaks Bolt 5.0 as Neo4j does, for tests of
// what is said to one.
//
//	server := bolttest.Start(t, func(s bolttest.Statement) bolttest.Answer { … })
//	neo4j.NewDriverWithContext(server.Address(), …)
//
// It knows no Cypher: the test answers each statement, and is told in which
// transaction it came. What a real Neo4j would refuse it has to refuse itself.
package bolttest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
)

// A Statement is one that a client has sent.
type Statement struct {
	Text     string
	Mode     string // r or w
	Database string
	Timeout  int // of the transaction, in ms
}

// An Answer is what becomes of a statement: records, or a failure if it has a
// code.
type Answer struct {
	Columns  []any
	Records  [][]any
	Counters map[string]any // "nodes-created" and the like
	Code     string
	Message  string
}

// Node is a node as the server sends it.
func Node(id int, labels []any, props map[string]any) Struct {
	return Struct{'N', []any{id, labels, props, "n" + string(rune('0'+id))}}
}

// A Server is a running one.
type Server struct {
	answer   func(Statement) Answer
	listener net.Listener
	wg       sync.WaitGroup

	mu    sync.Mutex
	conns []net.Conn
	ends  []string // how transactions have ended
	login map[string]any
}

// Start starts a server for a test.
func Start(t testing.TB, answer func(Statement) Answer) *Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{answer: answer, listener: l}
	s.wg.Go(s.accept)
	t.Cleanup(func() {
		_ = l.Close()
		s.mu.Lock()
		for _, c := range s.conns {
			_ = c.Close()
		}
		s.mu.Unlock()
		s.wg.Wait()
	})
	return s
}

// Host is where it listens.
func (s *Server) Host() string { return s.listener.Addr().String() }

// Address is where it listens, as a driver wants it.
func (s *Server) Address() string { return "bolt://" + s.Host() }

// Ends are how the transactions so far have ended: COMMIT, ROLLBACK or RESET.
func (s *Server) Ends() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.ends)
}

// Login is what the last client has said of itself.
func (s *Server) Login() map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.login
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
		s.wg.Go(func() {
			defer c.Close()
			hand := make([]byte, 20) // the magic and four versions
			if _, err := io.ReadFull(c, hand); err != nil {
				return
			}
			if _, err := c.Write([]byte{0, 0, 0, 5}); err != nil {
				return
			}
			p := peer{server: s, conn: c}
			for p.next() == nil {
			}
		})
	}
}

// Messages of Bolt.
const (
	hello, goodbye, reset    = 0x01, 0x02, 0x0F
	run, begin               = 0x10, 0x11
	commit, rollback         = 0x12, 0x13
	discard, pull            = 0x2F, 0x3F
	success, record, failure = 0x70, 0x71, 0x7F
	ignored                  = 0x7E
)

// A peer is one client.
type peer struct {
	server *Server
	conn   net.Conn
	tx     map[string]any // nil outside a transaction
	answer Answer         // what is left of it
	failed bool
}

// next answers a message.
func (p *peer) next() error {
	m, err := p.read()
	if err != nil {
		return err
	}
	if p.failed && m.Tag != reset && m.Tag != goodbye {
		return p.send(Struct{ignored, nil})
	}
	switch m.Tag {
	case hello:
		p.server.mu.Lock()
		p.server.login, _ = m.Fields[0].(map[string]any)
		p.server.mu.Unlock()
		return p.ok(map[string]any{"server": "Neo4j/5.0.0", "connection_id": "bolt-1"})
	case goodbye:
		return io.EOF
	case reset:
		p.failed = false
		p.end("RESET")
		return p.ok(nil)
	case begin:
		p.tx, _ = m.Fields[0].(map[string]any)
		return p.ok(nil)
	case commit:
		p.end("COMMIT")
		return p.ok(nil)
	case rollback:
		p.end("ROLLBACK")
		return p.ok(nil)
	case run:
		return p.run(m)
	case pull:
		extra, _ := m.Fields[0].(map[string]any)
		n, _ := extra["n"].(int)
		return p.pull(n)
	case discard:
		p.answer.Records = nil
		return p.pull(0)
	}
	return errors.New("unknown message")
}

// end notes how a transaction has ended, if there is one.
func (p *peer) end(how string) {
	if p.tx == nil {
		return
	}
	p.tx = nil
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.server.ends = append(p.server.ends, how)
}

func (p *peer) run(m Struct) error {
	meta := p.tx
	if meta == nil {
		meta, _ = m.Fields[2].(map[string]any)
	}
	s := Statement{Mode: "w"}
	s.Text, _ = m.Fields[0].(string)
	s.Database, _ = meta["db"].(string)
	s.Timeout, _ = meta["tx_timeout"].(int)
	if mode, ok := meta["mode"].(string); ok {
		s.Mode = mode
	}
	if p.answer = p.server.answer(s); p.answer.Code != "" {
		p.failed = true
		return p.send(Struct{failure, []any{map[string]any{"code": p.answer.Code, "message": p.answer.Message}}})
	}
	return p.ok(map[string]any{"fields": p.answer.Columns, "t_first": 1})
}

// pull sends some records, all if n is negative.
func (p *peer) pull(n int) error {
	for ; len(p.answer.Records) > 0 && n != 0; n-- {
		if err := p.send(Struct{record, []any{p.answer.Records[0]}}); err != nil {
			return err
		}
		p.answer.Records = p.answer.Records[1:]
	}
	if len(p.answer.Records) > 0 {
		return p.ok(map[string]any{"has_more": true})
	}
	end := map[string]any{"type": "rw", "t_last": 1, "db": "neo4j"}
	if p.answer.Counters != nil {
		end["stats"] = p.answer.Counters
	}
	return p.ok(end)
}

func (p *peer) ok(meta map[string]any) error {
	if meta == nil {
		meta = map[string]any{}
	}
	return p.send(Struct{success, []any{meta}})
}

// read reads a message, which comes in chunks.
func (p *peer) read() (Struct, error) {
	var all bytes.Buffer
	for {
		var n uint16
		if err := binary.Read(p.conn, binary.BigEndian, &n); err != nil {
			return Struct{}, err
		}
		if n == 0 && all.Len() > 0 {
			break
		}
		if _, err := io.CopyN(&all, p.conn, int64(n)); err != nil {
			return Struct{}, err
		}
	}
	m, ok := unpack(&all).(Struct)
	if !ok {
		return Struct{}, errors.New("no message")
	}
	return m, nil
}

func (p *peer) send(m Struct) error {
	var b, out bytes.Buffer
	pack(&b, m)
	for b.Len() > 0 {
		chunk := b.Next(0xFFFF)
		_ = binary.Write(&out, binary.BigEndian, uint16(len(chunk)))
		out.Write(chunk)
	}
	out.Write([]byte{0, 0})
	_, err := p.conn.Write(out.Bytes())
	return err
}
