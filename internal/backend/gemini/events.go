package gemini

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// events are the data of the server-sent events in a body. The sequence ends
// with an error: io.EOF at the end of the body. An event that the end cuts off is
// none. The length of lines and events is bounded by whoever gave us the body.
func events(body io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReader(body)
		var data []byte
		some := false
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				yield(nil, err)
				return
			}
			line = bytes.TrimSuffix(line[:len(line)-1], []byte("\r"))
			name, value, _ := bytes.Cut(line, []byte(":"))
			switch {
			case len(line) > 0 && string(name) == "data":
				if some {
					data = append(data, '\n')
				}
				data, some = append(data, bytes.TrimPrefix(value, []byte(" "))...), true
			case len(line) == 0 && some:
				if !yield(data, nil) {
					return
				}
				data, some = nil, false
			}
		}
	}
}
