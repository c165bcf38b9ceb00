package codex

import (
	"cmp"
	"encoding/json"
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

func (e *turnError) kind() backend.ErrorKind {
	var name string
	if json.Unmarshal(e.Info, &name) != nil {
		var with map[string]struct {
			Status int `json:"httpStatusCode"`
		}
		_ = json.Unmarshal(e.Info, &with) // else nothing is known
		for n, w := range with {
			if name = n; w.Status != 0 {
				return status(w.Status)
			}
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
	said, _, _ := strings.Cut(e.Message, ", url: http://127.0.0.1:") // our proxy is nobody's concern
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
