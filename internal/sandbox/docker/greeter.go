package docker

import (
	"bytes"
	"errors"
	"io"
	"sync"
)

// longest is how long a first line may be; what is longer is none of ours.
const longest = 4 << 10

// greeter takes the first line of an output for itself and passes on the rest.
type greeter struct {
	mark  string
	to    io.Writer
	heard chan struct{} // closed when there is a first line, or will be none
	once  sync.Once
	line  []byte // until heard
	who   hello  // valid after heard
	err   error
}

func newGreeter(mark string, to io.Writer) *greeter {
	if to == nil {
		to = io.Discard
	}
	return &greeter{mark: mark, to: to, heard: make(chan struct{})}
}

func (g *greeter) Write(b []byte) (int, error) {
	select {
	case <-g.heard:
		if g.err != nil {
			return len(b), nil // no output of the command's
		}
		return g.to.Write(b)
	default:
	}
	g.line = append(g.line, b...)
	i := bytes.IndexByte(g.line, '\n')
	if i < 0 && len(g.line) < longest {
		return len(b), nil
	}
	rest := g.line[i+1:]
	g.close()
	if g.err == nil && len(rest) > 0 {
		if _, err := g.to.Write(rest); err != nil {
			return 0, err
		}
	}
	return len(b), nil
}

// close decides about the first line: there is no more of it to come.
func (g *greeter) close() {
	g.once.Do(func() {
		line, _, _ := bytes.Cut(g.line, []byte("\n"))
		if g.who, g.err = parseHello(g.mark, string(line)); g.err != nil && len(line) == 0 {
			g.err = errors.New("it ended before it began")
		}
		close(g.heard)
	})
}

// result is who said hello. Nobody has if it is not heard yet.
func (g *greeter) result() (hello, error) {
	select {
	case <-g.heard:
		return g.who, g.err
	default:
		return hello{}, errors.New("it has not said a word")
	}
}
