package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"conclave/internal/backend"
)

// A report is what a provider says of an error, whichever form it has.
type report struct {
	Message string
	// Words are the names it gives the error: type, code and status.
	Words  []string
	number int
}

// read takes a body apart. What is no JSON is a message as it stands.
func read(body []byte) report {
	var top map[string]json.RawMessage
	if json.Unmarshal(unlisted(body), &top) != nil {
		return report{Message: plain(string(body))}
	}
	r := report{}
	for range 4 { // an error inside an error, as long as there is one
		r.add(top)
		var next map[string]json.RawMessage
		for _, name := range []string{"error", "response"} {
			var deeper map[string]json.RawMessage
			if json.Unmarshal(top[name], &deeper) == nil && len(deeper) > 0 {
				next = deeper
				break
			}
		}
		if next == nil {
			break
		}
		top = next
	}
	if r.Message == "" {
		r.Message = string(body)
	}
	return r
}

// add takes the fields of one object.
func (r *report) add(o map[string]json.RawMessage) {
	for _, name := range []string{"type", "code", "status"} {
		var s string
		var n int
		if json.Unmarshal(o[name], &s) == nil && s != "" {
			r.Words = append(r.Words, s)
			n, _ = strconv.Atoi(s)
		} else {
			_ = json.Unmarshal(o[name], &n)
		}
		if n >= 400 && n < 600 {
			r.number = n
		}
	}
	for _, name := range []string{"message", "error", "detail", "msg"} {
		var s string
		if json.Unmarshal(o[name], &s) == nil && s != "" {
			r.Message = s
			return
		}
	}
	if d := o["detail"]; len(d) > 0 && string(d) != "null" {
		r.Message = string(d)
	}
}

// unlisted is the first object of a list of one, which is how some of Google's
// servers wrap an error.
func unlisted(body []byte) []byte {
	body = bytes.TrimSpace(body)
	var list []json.RawMessage
	if len(body) > 0 && body[0] == '[' && json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return list[0]
	}
	return body
}

// told reports whether a body is an error whatever its status says.
func told(body []byte) bool {
	var o map[string]json.RawMessage
	if json.Unmarshal(unlisted(body), &o) != nil {
		return false
	}
	e, ok := o["error"]
	return ok && string(e) != "null"
}

// names are the words providers use in place of a status.
var names = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403,
	"not_found_error": 404, "request_too_large": 413, "rate_limit_error": 429, "api_error": 500,
	"timeout_error": 504, "overloaded_error": 529,

	"rate_limit_exceeded": 429, "too_many_requests": 429, "server_error": 500, "internal_error": 500,
	"internal_server_error": 500, "service_unavailable": 503, "invalid_prompt": 400, "invalid_api_key": 401, "model_not_found": 404,

	"INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "UNAUTHENTICATED": 401, "PERMISSION_DENIED": 403,
	"NOT_FOUND": 404, "RESOURCE_EXHAUSTED": 429, "INTERNAL": 500, "UNAVAILABLE": 503, "DEADLINE_EXCEEDED": 504,
}

// code is the status the report would have had as an answer of its own. Without
// a word we know it is a fault of the server's.
func (r report) code() int {
	if r.number != 0 {
		return r.number
	}
	for _, w := range r.Words {
		if c := names[w]; c != 0 {
			return c
		}
	}
	return http.StatusInternalServerError
}

// kind is what to do about an error. What it says counts more than its status:
// providers disagree about those.
func kind(code int, r report) backend.ErrorKind {
	if code == 0 {
		code = r.code()
	}
	text := strings.ToLower(strings.Join(r.Words, " ") + " " + r.Message)
	for _, p := range phrases {
		if p.matches(text) {
			return p.kind
		}
	}
	switch {
	case code == 401 || code == 402 || code == 403 || code == 407:
		return backend.Auth
	case code == 429:
		return backend.RateLimited
	case code == 408 || code >= 500:
		return backend.Overloaded
	}
	return backend.Invalid
}

// brief is text fit for one line of a message: no control characters, no length.
func brief(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	if short := []rune(s[:min(len(s), 4*maxBrief)]); len(short) > maxBrief {
		return string(short[:maxBrief]) + "…"
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

const maxBrief = 300

var (
	title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	tags  = regexp.MustCompile(`(?s)<[^>]*>`)
)

// plain is the text of a page.
func plain(s string) string {
	if m := title.FindStringSubmatch(s); m != nil {
		return cmp.Or(strings.TrimSpace(m[1]), "a web page")
	}
	if strings.HasPrefix(strings.TrimSpace(s), "<") {
		return tags.ReplaceAllString(s, " ")
	}
	return s
}

// redact blacks out a secret. What is too short to be one is left alone.
func redact(s, secret string) string {
	if len(secret) < 8 {
		return s
	}
	return strings.ReplaceAll(s, secret, "[key]")
}
