//go:build linux

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// long is a team of one that talks a lot and comes to an end.
func (p *project) long(t *testing.T, word string, n int, what string) {
	t.Helper()
	p.write(t, "long.yaml", "agents:\n  - {id: ada, backend: {type: script, script: longwind.yaml}}\n")
	p.write(t, "longwind.yaml", `word: `+word+`
steps:
  - when: {presenting: true}
    do: [{say: "The last word."}]
  - when: {own: 1}
    do: [{vote: {for: first, reason: It is the only one.}}]
  - do: [{say: '{{repeat `+fmt.Sprint(n)+` "`+what+`"}}'}, {answer: "An answer."}]
`)
}

// Nothing that is typed, turned or pulled makes the window fail, and it listens
// again at once.
func TestWindowStorms(t *testing.T) {
	t.Parallel()
	for name, storm := range map[string]func(x *process){
		"wheel": func(x *process) { x.press(strings.Repeat("\x1b[<64;10;5M\x1b[<65;10;5M", 5000)) },
		"sizes": func(x *process) {
			for i := range 1000 {
				x.resize(1+i*7%200, 1+i*5%60)
			}
		},
		"tiny": func(x *process) {
			for _, s := range [][2]int{{1, 1}, {1, 50}, {200, 1}, {0, 0}, {2, 2}, {3, 9}} {
				x.resize(s[0], s[1])
				x.press("\x1bOP\x1b\x1bOQ\x1b\x1b[6~/\x7f")
			}
		},
		"a paste without an end": func(x *process) {
			x.press("\x1b[200~pasted")
			x.press("\x03")
		},
		"false answers": func(x *process) {
			x.press("\x1b]11;rgb:zz/q\x07\x1b]11;?\x07\x1b]11\x1b\\\x1b[?2026;9$y\x1b[?99999u\x1b[>0;0;0c\x1bP1+r=\x1b\\\x1bP!|\x1b\\\x1b[99999;99999R\x1b[8;0;0t")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newTeam(t)
			p.long(t, "0s", 600, `one two three **four** five six seven.\n\n`)
			x := p.window(t, nil, "--config", "long.yaml", "a task")
			x.says(x.out, "conclave: done")
			storm(x)
			x.resize(81, 24)
			x.press("\x0c")
			x.says(x.out, "Drawn anew")
			x.signal(syscall.SIGTERM)
			x.ends(4)
			x.cooked()
		})
	}
}

func (x *process) resize(width, height int) {
	x.t.Helper()
	if err := pty.Setsize(x.tty, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)}); err != nil {
		x.t.Fatal(err)
	}
}

// Bytes that mean nothing do not end the window, nor leave the terminal in
// disorder. What they happen to spell is done, as whoever types would expect.
func TestWindowNoise(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 1))
			p := newTeam(t)
			x := p.window(t, nil, "--config", "two.yaml")
			for range 100 {
				b := make([]byte, 1+rng.IntN(200))
				for i := range b {
					// Neither Enter nor what leaves: that would be no accident. Nor what
					// the terminal's ordinary mode takes for a signal: typed ahead when
					// the window ends it makes the terminal forget what was written last.
					for b[i] = '\r'; bytes.IndexByte([]byte("\r\n\x03\x04\x1a\x1c"), b[i]) >= 0; {
						b[i] = byte(rng.Uint32())
					}
					if rng.IntN(20) == 0 {
						b[i] = 27
					}
				}
				x.press(string(b))
			}
			x.press("\x1b\\\x1b[201~")
			x.signal(syscall.SIGTERM)
			x.ends(4)
			x.cooked()
			if s := x.out.String(); strings.Contains(s, "panic") {
				t.Errorf("it panics:\n%s", s)
			}
			if n := p.flows(); n != 0 {
				t.Errorf("%d conversations were begun", n)
			}
		})
	}
}

// A terminal that does not know its size has the usual one.
func TestWindowWithoutSize(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	x := p.onTerminal(t, 0, 0, nil, "--config", "two.yaml")
	x.says(x.out, "2 agents are ready")
	x.press("\x04")
	x.ends(0)
}

// A terminal that takes nothing keeps neither the run from its end nor the
// window from being closed.
func TestWindowNobodyReads(t *testing.T) {
	t.Parallel()
	p := newTeam(t)
	p.long(t, "1ms", 4000, strings.Repeat("much", 40)+" ") // more than terminals keep
	cmd := p.command("--config", "long.yaml", "a task")
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	cmd.SysProcAttr = nil
	x := &process{t: t, cmd: cmd, out: newTranscript()}
	x.begin(func() (err error) {
		x.tty, err = pty.StartWithSize(cmd, &pty.Winsize{Cols: 200, Rows: 50})
		return err
	})
	defer x.tty.Close()
	for seen := ""; !strings.Contains(seen, "conclave: working"); {
		buf := make([]byte, 4096)
		n, err := x.tty.Read(buf)
		if err != nil {
			t.Fatalf("%v: %s", err, seen)
		}
		seen += string(buf[:n])
	}
	f := p.start(t, "log", "--follow")
	f.says(f.out, "run finished: success")
	f.ends(0)
	x.signal(syscall.SIGTERM)
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("it ended with %v", cmd.ProcessState)
	}
}
