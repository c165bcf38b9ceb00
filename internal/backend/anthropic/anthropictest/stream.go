package anthropictest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
	"conclave/internal/event"
)

type object = map[string]any

// refuse answers with an error.
func refuse(w http.ResponseWriter, status int, kind, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_fake")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(problem(kind, message))
}

func problem(kind, message string) object {
	return object{"type": "error", "error": object{"type": kind, "message": message}, "request_id": "req_fake"}
}

// fail answers a request whose reply is a failure and nothing else.
func fail(w http.ResponseWriter, r *http.Request, f backendtest.Failure) {
	switch f.Kind {
	case backend.Auth:
		refuse(w, http.StatusUnauthorized, "authentication_error", "invalid x-api-key")
	case backend.Invalid:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "The request is not valid.")
	case backend.TooLong:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")
	case backend.Declined:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "Output blocked by content filtering policy")
	case backend.RateLimited:
		if f.RetryAfter > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int(f.RetryAfter/time.Second)))
		}
		refuse(w, http.StatusTooManyRequests, "rate_limit_error", "This request would exceed your rate limit.")
	case backend.Overloaded:
		refuse(w, 529, "overloaded_error", "Overloaded")
	case backend.Unreachable:
		panic(http.ErrAbortHandler)
	case backend.TimedOut:
		(&stream{w: w}).begin()
		<-r.Context().Done()
	case backend.Truncated:
		(&stream{w: w}).begin()
	case backend.Garbled:
		s := &stream{w: w}
		s.begin()
		fmt.Fprint(w, "event: message_start\ndata: {\"type\": \n\n")
	default:
		refuse(w, http.StatusInternalServerError, "api_error", "Internal server error")
	}
}

// names are the types of errors in the middle of a stream.
var names = map[backend.ErrorKind]string{
	backend.Auth: "authentication_error", backend.Invalid: "invalid_request_error",
	backend.RateLimited: "rate_limit_error", backend.Overloaded: "overloaded_error",
}

// A stream is an answer in events.
type stream struct {
	w     http.ResponseWriter
	index int
	n     int64 // of the reply: ids of messages and calls are unique
}

func (s *stream) begin() {
	s.w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	s.w.WriteHeader(http.StatusOK)
	s.flush()
}

func (s *stream) flush() { _ = http.NewResponseController(s.w).Flush() }

func (s *stream) send(kind string, data object) {
	data["type"] = kind
	p, err := json.Marshal(data)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", kind, p)
	s.flush()
}

// play sends a reply up to its end.
func (s *stream) play(r *http.Request, reply backendtest.Reply) {
	s.begin()
	u := reply.Usage
	if u == (event.Usage{}) {
		u = event.Usage{Input: 10, Output: 5}
	}
	s.send("message_start", object{"message": object{
		"id": fmt.Sprintf("msg_fake_%d", s.n), "type": "message", "role": "assistant", "content": []any{}, "model": "claude", "stop_reason": nil,
		"usage": object{
			"input_tokens": u.Input - u.Cached, "cache_read_input_tokens": u.Cached,
			"cache_creation_input_tokens": 0, "output_tokens": 1,
		},
	}})
	s.send("ping", object{})
	s.parts(reply.Parts)
	switch {
	case reply.Fail != nil:
		s.send("error", problem(names[reply.Fail.Kind], "It failed in the middle."))
		return
	case reply.Cut:
		return
	case reply.Hang:
		<-r.Context().Done()
		return
	}
	s.send("message_delta", object{
		"delta": object{"stop_reason": reason(reply.StopReason()), "stop_sequence": nil},
		"usage": object{"output_tokens": u.Output},
	})
	s.send("message_stop", object{})
}

func reason(stop string) string {
	switch stop {
	case "tools":
		return "tool_use"
	case "length":
		return "max_tokens"
	case "end":
		return "end_turn"
	}
	return stop
}

// parts sends the content. Pieces of one kind in a row are one block.
func (s *stream) parts(parts []backendtest.Part) {
	for i := 0; i < len(parts); {
		n := 1
		switch p := parts[i]; {
		case p.Call != nil:
			s.call(*p.Call)
		case p.Thinking != "":
			for i+n < len(parts) && parts[i+n].Thinking != "" {
				n++
			}
			s.start(object{"type": "thinking", "thinking": "", "signature": ""})
			for _, p := range parts[i : i+n] {
				s.delta(object{"type": "thinking_delta", "thinking": p.Thinking})
			}
			s.delta(object{"type": "signature_delta", "signature": "c2lnbmVk"})
			s.stop()
		default:
			for i+n < len(parts) && parts[i+n].Text != "" {
				n++
			}
			s.start(object{"type": "text", "text": ""})
			for _, p := range parts[i : i+n] {
				s.delta(object{"type": "text_delta", "text": p.Text})
			}
			s.stop()
		}
		i += n
	}
}

// call sends a tool call, its input in two pieces.
func (s *stream) call(c backendtest.Call) {
	s.start(object{"type": "tool_use", "id": fmt.Sprintf("toolu_%02d_%02d", s.n, s.index), "name": c.Name, "input": object{}})
	s.delta(object{"type": "input_json_delta", "partial_json": ""})
	half := len(c.Input) / 2
	for _, piece := range []string{c.Input[:half], c.Input[half:]} {
		if piece != "" {
			s.delta(object{"type": "input_json_delta", "partial_json": piece})
		}
	}
	s.stop()
}

func (s *stream) start(block object) {
	s.send("content_block_start", object{"index": s.index, "content_block": block})
}

func (s *stream) delta(d object) {
	s.send("content_block_delta", object{"index": s.index, "delta": d})
}

func (s *stream) stop() {
	s.send("content_block_stop", object{"index": s.index})
	s.index++
}
