package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"

	"github.com/goccy/go-yaml/ast"
)

// A value is a type that a key can have.
type value[V any] struct {
	kind  Kind
	what  string // in words, to follow "must be"
	words []string
	min   *float64
	above bool
	max   *float64
	// parse reads a scalar. Where it cannot, hint may say what was meant.
	parse func(scalar) (v V, hint string, ok bool)
	// refer leaves variables as they are written: they may be secrets.
	refer bool
	also  []Kind // further types of YAML it may be written as
	// show is the value as it would be written, for keys whose default is a rule.
	show func(V) string
}

// scan reads the value of an entry and reports why it cannot.
func scan[V any](r *reader, e entry, v value[V]) (V, bool) {
	var zero V
	if _, null := e.node.(*ast.NullNode); null {
		r.fault(e, e.valueAt(), e.key+" has no value", "it must be "+v.what)
		return zero, false
	}
	s, ok := r.scalar(e, v.what, v.refer)
	if !ok {
		return zero, false
	}
	x, hint, ok := v.parse(s)
	if !ok {
		r.mustBe(e, v.what, hint)
	}
	return x, ok
}

// truth is true or false. The other spellings are those of older YAML.
func truth() value[bool] {
	spelled := map[string]bool{"true": true, "yes": true, "on": true, "false": false, "no": false, "off": false}
	return value[bool]{
		kind: Bool, what: "true or false", show: strconv.FormatBool,
		parse: func(s scalar) (bool, string, bool) {
			b, ok := spelled[strings.ToLower(s.text)]
			if ok && !s.bare {
				return b, "leave the quotation marks out", false
			}
			return b, "", ok
		},
	}
}

var decimal = regexp.MustCompile(`^[+-]?(0|[1-9][0-9_]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// digits is a bare decimal number without its separators.
func digits(s scalar) (text, hint string, ok bool) {
	switch ok := decimal.MatchString(s.text); {
	case ok && !s.bare:
		return "", "leave the quotation marks out", false
	case !ok:
		return "", "", false
	}
	return strings.ReplaceAll(s.text, "_", ""), "", true
}

// whole is an integer from low up.
func whole[N ~int | ~int64](low N) value[N] {
	least := float64(low)
	return value[N]{
		kind: Whole, what: fmt.Sprintf("a whole number from %d up", low), min: &least, show: shownNumber[N],
		parse: func(s scalar) (N, string, bool) {
			text, hint, ok := digits(s)
			if !ok {
				return 0, hint, false
			}
			n, err := strconv.ParseInt(text, 10, 64)
			if errors.Is(err, strconv.ErrRange) && text[0] != '-' {
				hint = "that is too large"
			}
			return N(n), hint, err == nil && n >= int64(low)
		},
	}
}

// amount is any number between two.
func amount(low, high float64) value[float64] {
	return value[float64]{
		kind: Number, what: fmt.Sprintf("a number from %v to %v", low, high), min: &low, max: &high,
		parse: func(s scalar) (float64, string, bool) {
			text, hint, ok := digits(s)
			if !ok {
				return 0, hint, false
			}
			n, err := strconv.ParseFloat(text, 64)
			return n, "", err == nil && n >= low && n <= high
		},
	}
}

// maxSeconds is the longest time that can be set: a year.
const maxSeconds = 365 * 24 * 60 * 60

// seconds is a time, above zero or, if zero is given, from zero up.
func seconds(zero bool) value[event.Duration] {
	v := value[event.Duration]{
		kind: Number, what: "a number of seconds above 0", min: new(0.0), above: !zero,
		show: func(d event.Duration) string {
			if d == 0 {
				return "none"
			}
			return shownNumber(time.Duration(d).Seconds())
		},
	}
	if zero {
		v.what = "a number of seconds from 0 up"
	}
	v.parse = func(s scalar) (event.Duration, string, bool) {
		text, hint, ok := digits(s)
		if !ok {
			if d, err := time.ParseDuration(s.text); err == nil && d > 0 && hint == "" {
				hint = fmt.Sprintf("did you mean %v?", d.Seconds())
			}
			return 0, hint, false
		}
		n, err := strconv.ParseFloat(text, 64)
		if err == nil && n > maxSeconds {
			return 0, "the longest is a year, " + strconv.Itoa(maxSeconds), false
		}
		d := event.Duration(math.Round(n * float64(time.Second)))
		return d, "", err == nil && (d > 0 || zero && n == 0)
	}
	return v
}

var price = regexp.MustCompile(`^([0-9]{1,9})(?:\.([0-9]{1,6})0*)?$`)

// dollars is an amount of money. It is read exactly, never by way of a fraction
// in binary.
func dollars() value[event.Money] {
	return value[event.Money]{
		kind: Number, what: "an amount in dollars such as 2.50, with up to six decimals", min: new(0.0), show: event.Money.String,
		parse: func(s scalar) (event.Money, string, bool) {
			m := price.FindStringSubmatch(s.text)
			if m == nil {
				bare := strings.TrimPrefix(s.text, "$")
				if price.MatchString(bare) && bare != s.text {
					return 0, fmt.Sprintf("did you mean %s?", bare), false
				}
				return 0, "", false // finer than a millionth, or beyond all reason
			}
			if !s.bare {
				return 0, "leave the quotation marks out", false
			}
			whole, _ := strconv.ParseInt(m[1], 10, 64)
			parts, _ := strconv.ParseInt((m[2] + "000000")[:6], 10, 64)
			return event.Money(whole)*event.Dollar + event.Money(parts), "", true
		},
	}
}

// text is any text.
func text() value[string] {
	return value[string]{
		kind: Text, what: "text", show: quoted,
		parse: func(s scalar) (string, string, bool) {
			if s.typed {
				return "", "write " + quoted(s.text), false
			}
			return s.text, "", true
		},
	}
}

// name is text that has to say something on one line.
func name() value[string] {
	v := text()
	v.what = "text on one line"
	any := v.parse
	v.parse = func(s scalar) (string, string, bool) {
		t, hint, ok := any(s)
		return t, hint, ok && strings.TrimSpace(t) != "" && !strings.ContainsAny(t, "\n\r")
	}
	return v
}

// A choice is a word and what it stands for.
type choice[V comparable] struct {
	word  string
	value V
}

// word is one of a few words.
func word[V comparable](choices ...choice[V]) value[V] {
	var words []string
	for _, c := range choices {
		words = append(words, c.word)
	}
	return value[V]{
		kind: Text, what: oneOf(words), words: words,
		parse: func(s scalar) (V, string, bool) {
			for _, c := range choices {
				if c.word == s.text {
					return c.value, "", true
				}
			}
			var zero V
			return zero, didYouMean(s.text, words), false
		},
		show: func(v V) string {
			for _, c := range choices {
				if c.value == v {
					return c.word
				}
			}
			return ""
		},
	}
}

// same are words that stand for themselves.
func same[V ~string](words ...V) value[V] {
	var choices []choice[V]
	for _, w := range words {
		choices = append(choices, choice[V]{string(w), w})
	}
	return word(choices...)
}

// override is off, wait or a number of seconds.
func override() value[event.Override] {
	time := seconds(false)
	return value[event.Override]{
		kind: Mixed, what: "off, wait or " + time.what, words: []string{"off", "wait"}, min: time.min, above: true,
		parse: func(s scalar) (event.Override, string, bool) {
			switch strings.ToLower(s.text) {
			case "off", "false", "no":
				return event.Override{}, "", true
			case "wait":
				return event.Override{On: true}, "", true
			}
			d, hint, ok := time.parse(s)
			if !ok && hint == "" {
				hint = didYouMean(s.text, []string{"off", "wait"})
			}
			return event.Override{On: ok, Wait: d}, hint, ok
		},
		show: func(o event.Override) string {
			switch {
			case !o.On:
				return "off"
			case o.Wait == 0:
				return "wait"
			}
			return time.show(o.Wait)
		},
	}
}

func shownNumber[N ~int | ~int64 | ~float64](n N) string { return fmt.Sprint(n) }
