package openaitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"conclave/internal/backend"
	"conclave/internal/backend/backendtest"
)

// Refuse answers with an error, as OpenAI and those after it write it.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": problem(code, message)})
}

func problem(code, message string) map[string]any {
	return map[string]any{"message": message, "type": "error", "param": nil, "code": code}
}

// Failed answers a request whose reply is a failure and nothing else, and reports
// whether it did.
func Failed(w http.ResponseWriter, r *http.Request, reply backendtest.Reply) bool {
	if reply.Fail == nil || len(reply.Parts) > 0 {
		return false
	}
	switch reply.Fail.Kind {
	case backend.Auth:
		Refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
	case backend.Invalid:
		Refuse(w, http.StatusBadRequest, "invalid_value", "Invalid request.")
	case backend.RateLimited:
		if d := reply.Fail.RetryAfter; d > 0 {
			w.Header().Set("Retry-After", fmt.Sprint(int(d/time.Second)))
		}
		Refuse(w, http.StatusTooManyRequests, "rate_limit_exceeded", "Rate limit reached.")
	case backend.Overloaded:
		Refuse(w, http.StatusServiceUnavailable, "server_error", "The server is overloaded.")
	case backend.Declined:
		Refuse(w, http.StatusBadRequest, "content_filter", "The prompt was filtered.")
	case backend.Unreachable:
		panic(http.ErrAbortHandler)
	case backend.TimedOut:
		Begin(w)
		<-r.Context().Done()
	case backend.Truncated:
		Begin(w)
	case backend.Garbled:
		Begin(w)
		fmt.Fprint(w, "data: {\"type\": \n\n")
	default:
		Refuse(w, http.StatusInternalServerError, "server_error", string(reply.Fail.Kind))
	}
	return true
}

// Begin begins a stream.
func Begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
}

// Code is the code of an error in the middle of a stream.
func Code(k backend.ErrorKind) string {
	switch k {
	case backend.RateLimited:
		return "rate_limit_exceeded"
	case backend.Invalid:
		return "invalid_request_error"
	case backend.Declined:
		return "content_policy_violation"
	case backend.Auth:
		return "invalid_api_key"
	}
	return "server_error"
}
