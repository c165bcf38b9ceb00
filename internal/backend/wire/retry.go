package wire

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// again reports whether a status may be another one next time.
func again(code int) bool {
	switch code {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout, 520, 521, 522, 523, 524, 529:
		return true
	}
	return false
}

// backoff is how long to wait before the attempt after the nth, counted from
// one, if nobody says: twice as long each time, give or take a quarter.
func backoff(base time.Duration, n int) time.Duration {
	d := base << min(n-1, 10)
	return d*3/4 + rand.N(d/2+1)
}

// aDay bounds what a provider can ask for.
const aDay = 24 * time.Hour

// retryAfter is how long the provider asks to wait; zero if it does not say.
func retryAfter(h http.Header, body []byte) time.Duration {
	for _, f := range []func() time.Duration{
		func() time.Duration { return number(h.Get("Retry-After-Ms"), time.Millisecond) },
		func() time.Duration { return number(h.Get("Retry-After"), time.Second) },
		func() time.Duration { return until(h, h.Get("Retry-After"), http.TimeFormat, time.RFC850) },
		func() time.Duration { return inBody(body) },
		func() time.Duration { return spent(h) },
		func() time.Duration { return inWords(body) },
	} {
		if d := f(); d > 0 {
			return min(d, aDay)
		}
	}
	return 0
}

func number(s string, unit time.Duration) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || !(n > 0) { // NaN as well
		return 0
	}
	return time.Duration(min(n*float64(unit), float64(aDay)))
}

// until is the time from the answer's own date to the date given, so that a clock
// of ours that is wrong does not matter.
func until(h http.Header, s string, layouts ...string) time.Duration {
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			return t.Sub(now)
		}
	}
	return 0
}

// limits are the pairs of headers that say what is left of a limit and when it
// begins anew: after a duration, at a time, or at a Unix time.
var limits = []struct{ left, reset string }{
	{"X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
	{"X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
	{"X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
	{"Ratelimit-Remaining", "Ratelimit-Reset"},
	{"Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
	{"Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
	{"Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
	{"Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
}

// spent is when the last of the limits that are used up begins anew.
func spent(h http.Header) time.Duration {
	var longest time.Duration
	for _, l := range limits {
		if left := h.Get(l.left); left == "" || number(left, time.Second) == 0 {
			longest = max(longest, reset(h, h.Get(l.reset)))
		}
	}
	return longest
}

// A number this large is a Unix time: in seconds, and in milliseconds.
const (
	unixSeconds = 1e9
	unixMillis  = 1e12
)

func reset(h http.Header, s string) time.Duration {
	if d, err := time.ParseDuration(s); err == nil {
		return d
	}
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return until(h, s, time.RFC3339Nano, http.TimeFormat)
	case n >= unixMillis:
		return time.Until(time.UnixMilli(int64(n)))
	case n >= unixSeconds:
		return time.Until(time.Unix(int64(n), 0))
	}
	return number(s, time.Second)
}

// inBody is the RetryInfo that Google's services put into the error.
func inBody(body []byte) time.Duration {
	var e struct {
		Error struct {
			Details []struct {
				Type  string `json:"@type"`
				Delay string `json:"retryDelay"`
			}
		}
	}
	if json.Unmarshal(unlisted(body), &e) != nil {
		return 0
	}
	for _, d := range e.Error.Details {
		if strings.HasSuffix(d.Type, "google.rpc.RetryInfo") {
			after, _ := time.ParseDuration(d.Delay)
			return after
		}
	}
	return 0
}

// worded is what OpenAI and those after it write: "Please try again in 1m2.5s."
var worded = regexp.MustCompile(`(?i)(?:try|retry)(?: again)? (?:in|after) ((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`)

func inWords(body []byte) time.Duration {
	m := worded.FindSubmatch(body)
	if m == nil {
		return 0
	}
	d, _ := time.ParseDuration(string(m[1]))
	return d
}
