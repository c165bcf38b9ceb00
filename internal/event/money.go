package event

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Money is an amount in millionths of a US dollar.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000

func (m Money) String() string {
	if m != 0 && m > -Dollar/100 && m < Dollar/100 {
		return fmt.Sprintf("$%.4f", float64(m)/float64(Dollar))
	}
	return fmt.Sprintf("$%.2f", float64(m)/float64(Dollar))
}

// ParseMoney reads an amount of dollars such as "2.50" or "$2".
func ParseMoney(s string) (Money, error) {
	whole, part, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(s), "$"), ".")
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	if whole+part == "" || !digits(whole) || !digits(part) || len(part) > 6 || len(whole) > 12 {
		return 0, fmt.Errorf("%q is not an amount of dollars such as 2.50", s)
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", 6-len(part)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount of dollars such as 2.50", s)
	}
	return Money(n), nil
}

// Usage is what one model call consumed. Input counts every token sent, Cached
// those of them read from a cache; Output counts every token received,
// Reasoning those of them that were thought and not said.
type Usage struct {
	Input     int64 `json:"input,omitempty"`
	Cached    int64 `json:"cached,omitempty"`
	Output    int64 `json:"output,omitempty"`
	Reasoning int64 `json:"reasoning,omitempty"`
	Cost      Money `json:"cost,omitempty"`
}

// Tokens is what counts against a token ceiling.
func (u Usage) Tokens() int64 { return u.Input + u.Output }

// Add returns the sum of both.
func (u Usage) Add(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Cached + v.Cached, u.Output + v.Output, u.Reasoning + v.Reasoning, u.Cost + v.Cost}
}

// Amount is something to spend: tokens and money together.
type Amount struct {
	Tokens int64 `json:"tokens,omitempty"`
	Cost   Money `json:"cost,omitempty"`
}

// Amount is what the usage takes out of a budget.
func (u Usage) Amount() Amount { return Amount{u.Tokens(), u.Cost} }

// A Budget is a ceiling on spending. A nil field is no ceiling; zero is zero.
type Budget struct {
	Tokens *int64 `json:"tokens,omitempty"`
	Cost   *Money `json:"cost,omitempty"`
}

// Limited reports whether there is any ceiling.
func (b Budget) Limited() bool { return b.Tokens != nil || b.Cost != nil }

// A Duration is a time.Duration that reads as "1m30s" on the wire.
type Duration time.Duration

func (d Duration) String() string { return time.Duration(d).String() }

func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Duration) UnmarshalText(p []byte) error {
	v, err := time.ParseDuration(string(p))
	*d = Duration(v)
	return err
}
