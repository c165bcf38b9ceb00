package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"
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

// notLoggedIn is what to do about it.
const notLoggedIn = "Claude Code is not logged in: run claude in a terminal once and log in, or set "

// blame puts a failure down to what is known of it: the program speaks of a login
// where a key was refused, and of commands that are typed into its own window.
func (s *session) blame(e *backend.Error) *backend.Error {
	if e.Kind == backend.Auth {
		said, _, _ := strings.Cut(e.Message, " · ") // what to do in its window
		if e.Message = said; s.proxy == nil {
			names := cmp.Or(strings.Join(s.key.Env, " or "), "ANTHROPIC_API_KEY")
			return &backend.Error{Kind: backend.Auth, Message: notLoggedIn + names + " in the environment (it says: " + said + ")"}
		}
	}
	return s.proxy.Blame(e, s.key)
}

// retried takes in that the program will ask its model again. A key that was refused
// is refused again; a login may be renewed, once.
func (t *turn) retried(l line) error {
	kind, trouble := kindOfStatus(l.RetryStatus), t.proxy.Trouble()
	switch {
	case kind == backend.Auth && (t.proxy != nil || l.Attempt > 1):
		said := ""
		_ = json.Unmarshal(l.Error, &said)
		return t.blame(&backend.Error{Kind: kind, Message: fmt.Sprintf("%s (%d)", cmp.Or(said, "not allowed"), l.RetryStatus)})
	case trouble != nil:
		t.pass(trouble.Error()+"; trying again.\n", t.out.thinking)
	case l.RetryStatus != 0:
		t.pass(fmt.Sprintf("The model's server answers %d; trying again.\n", l.RetryStatus), t.out.thinking)
	default:
		t.pass("The model's server does not answer; trying again.\n", t.out.thinking)
	}
	return nil
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
