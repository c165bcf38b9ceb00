package price

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"conclave/internal/backend"
)

//go:embed table.txt
var written string

// table is by maker or provider. It is read when it is first needed, because most
// starts of the program need it not.
var table = sync.OnceValue(func() map[string][]Entry {
	t, err := parse(written)
	if err != nil {
		panic(err) // it is part of the program, and tested
	}
	return t
})

// parse reads a table.
func parse(text string) (map[string][]Entry, error) {
	out := map[string][]Entry{}
	section := ""
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case strings.HasPrefix(line, "["):
			section = strings.Trim(fields[0], "[]")
		default:
			e, err := row(fields)
			if err != nil {
				return nil, fmt.Errorf("table of prices, line %d: %w", i+1, err)
			}
			if section == "" {
				return nil, fmt.Errorf("table of prices, line %d: a row before any section", i+1)
			}
			out[section] = append(out[section], e)
		}
	}
	return out, nil
}

// row is a model and six numbers, and four more if long prompts cost more.
func row(fields []string) (Entry, error) {
	e := Entry{Name: fields[0]}
	var n []float64
	for _, f := range fields[1:] {
		x, err := strconv.ParseFloat(strings.Replace(f, "-", "0", 1), 64)
		if err != nil {
			return e, err
		}
		n = append(n, x)
	}
	if len(n) != 6 && len(n) != 10 {
		return e, fmt.Errorf("%d numbers", len(n))
	}
	e.Price = dollars(n[0], n[1], n[2], n[3])
	e.Window, e.MaxOutput = int(n[4])*1000, int(n[5])*1000
	if len(n) == 10 {
		long := dollars(n[7], n[8], n[9], n[3]*n[7]/n[0]) // what is stored grows as what is sent
		e.Long, e.LongOver = &long, int(n[6])*1000
	}
	return e, nil
}

func dollars(in, out, cached, stored float64) backend.Price {
	p := backend.Price{Input: in, Output: out}
	if cached > 0 {
		p.Cached = &cached
	}
	if stored > 0 {
		p.Stored = &stored
	}
	return p
}
