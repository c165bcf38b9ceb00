package claudecode

import (
	"cmp"
	"net/http"
	"strings"

	"conclave/internal/backend"
)

// failure is the error that a result reports. The program calls it a success all
// the same.
func failure(l line) *backend.Error {
	e := &backend.Error{Kind: kindOfStatus(l.Status), Message: cmp.Or(l.Result, strings.Join(l.Errors, "; "), l.Subtype)}
	said := strings.ToLower(e.Message)
	for _, p := range phrases {
		if strings.Contains(said, p.words) && p.status == l.Status {
			e.Kind = p.kind
		}
	}
	return e
}

func kindOfStatus(status int) backend.ErrorKind {
	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return backend.Auth
	case status == http.StatusTooManyRequests:
		return backend.RateLimited
	case status == http.StatusRequestEntityTooLarge:
		return backend.TooLong
	case status == http.StatusRequestTimeout:
		return backend.TimedOut
	case status >= 500:
		return backend.Overloaded
	case status >= 400:
		return backend.Invalid
	}
	return backend.Broken
}

// phrases are what the program says where a status is missing or says too little.
var phrases = []struct {
	words  string
	status int // zero where there is none
	kind   backend.ErrorKind
}{
	{"too long", http.StatusBadRequest, backend.TooLong},
	{"content filtering", http.StatusBadRequest, backend.Declined},
	{"not logged in", 0, backend.Auth},
	{"please run /login", 0, backend.Auth},
	{"invalid api key", 0, backend.Auth},
	{"connect", 0, backend.Unreachable}, // unable to connect, connection error, ECONNREFUSED
	{"econn", 0, backend.Unreachable},
	{"request timed out", 0, backend.TimedOut},
	{"usage limit", 0, backend.RateLimited},
}

// stop is why a reply ended, in the seam's words.
func stop(reason string) string {
	switch reason {
	case "max_tokens":
		return "length"
	case "refusal":
		return "refusal"
	}
	return "end"
}
