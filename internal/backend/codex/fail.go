package codex

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"conclave/internal/backend"
)

// kinds are Codex's own words for what went wrong.
var kinds = map[string]backend.ErrorKind{
	"contextWindowExceeded":       backend.TooLong,
	"usageLimitExceeded":          backend.RateLimited,
	"rateLimitExceeded":           backend.RateLimited,
	"sessionBudgetExceeded":       backend.RateLimited,
	"serverOverloaded":            backend.Overloaded,
	"flexUnavailable":             backend.Overloaded,
	"policyCapacityUnavailable":   backend.Overloaded,
	"internalServerError":         backend.Overloaded,
	"unauthorized":                backend.Auth,
	"badRequest":                  backend.Invalid,
	"modelNotFound":               backend.Invalid,
	"cyberPolicy":                 backend.Declined,
	"misalignmentPolicyViolation": backend.Declined,
	"httpConnectionFailed":        backend.Unreachable,
	"responseStreamDisconnected":  backend.Truncated,
	// Followed by a status, which says more.
	"responseStreamConnectionFailed": backend.Unreachable,
	"responseTooManyFailedAttempts":  backend.Overloaded,
}

// failure is why a turn that has ended was none.
func (s turnState) failure() *backend.Error {
	switch {
	case s.Status == "completed":
		return nil
	case s.Error == nil:
		return &backend.Error{Kind: backend.Broken, Message: "codex left its turn " + s.Status}
	}
	return &backend.Error{Kind: s.Error.kind(), Message: "codex could not finish its turn: " + s.Error.words()}
}

// blame puts a failure down to what is known of it: where there is neither a key nor a
// proxy that knows it, it is the user's own login that was refused.
func (t *turn) blame(e *backend.Error) *backend.Error {
	if e.Kind == backend.Auth && t.server.proxy == nil {
		return &backend.Error{Kind: backend.Auth, Message: "codex is not logged in any more: " + t.agent.remedy() + " (it says: " + e.Message + ")"}
	}
	return t.server.proxy.Blame(e, t.agent.Key)
}

// retried takes in that Codex will ask its model again. A key that was refused is
// refused again; a login may be renewed, once.
func (t *turn) retried(e turnError) error {
	kind, code := e.kind(), e.status()
	if code != 0 && kind == backend.Auth {
		if t.refusals++; t.server.proxy != nil || t.refusals > 1 {
			said := turnError{Message: cmp.Or(e.Details, e.Message)}
			return t.blame(&backend.Error{Kind: kind, Message: said.words()})
		}
	}
	what := "The model's server does not answer"
	switch trouble := t.server.proxy.Trouble(); {
	case trouble != nil:
		what = trouble.Error()
	case code != 0:
		what = fmt.Sprintf("The model's server answers %d", code)
	case kind == backend.Truncated:
		what = "The model's answer broke off"
	}
	t.thinking("retry", what+"; trying again.\n")
	return nil
}

// status is what the model's server answered with; zero if that is not known.
func (e *turnError) status() int {
	var with map[string]struct {
		Status int `json:"httpStatusCode"`
	}
	_ = json.Unmarshal(e.Info, &with) // else nothing is known
	for _, w := range with {
		return w.Status
	}
	return 0
}

func (e *turnError) kind() backend.ErrorKind {
	var name string
	if json.Unmarshal(e.Info, &name) != nil {
		if code := e.status(); code != 0 {
			return status(code)
		}
		var with map[string]any
		_ = json.Unmarshal(e.Info, &with) // else nothing is known
		for n := range with {
			name = n
		}
	}
	if k, ok := kinds[name]; ok {
		return k
	}
	api, isAPI := e.api()
	switch {
	case api.Code == "content_filter" || api.Code == "content_policy_violation":
		return backend.Declined
	case api.Code == "context_length_exceeded":
		return backend.TooLong
	case isAPI: // it is told as it came only if the request was refused
		return backend.Invalid
	case strings.Contains(e.Message, "stream disconnected"), strings.Contains(e.Message, "stream closed"):
		return backend.Truncated
	}
	return backend.Broken
}

type apiError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

// api is the provider's own error, if the message is one.
func (e *turnError) api() (apiError, bool) {
	var body struct {
		Error *apiError `json:"error"`
	}
	if json.Unmarshal([]byte(e.Message), &body) != nil || body.Error == nil {
		return apiError{}, false
	}
	return *body.Error, true
}

func (e *turnError) words() string {
	if api, ok := e.api(); ok && api.Message != "" {
		return api.Message
	}
	said, _, _ := strings.Cut(e.Message, ", url: http://") // our proxy, wherever it is, is nobody's concern
	return cmp.Or(said, e.Details, "it does not say why")
}

func status(code int) backend.ErrorKind {
	switch {
	case code == http.StatusUnauthorized, code == http.StatusForbidden:
		return backend.Auth
	case code == http.StatusTooManyRequests:
		return backend.RateLimited
	case code == http.StatusRequestTimeout, code >= 500:
		return backend.Overloaded
	}
	return backend.Invalid
}
