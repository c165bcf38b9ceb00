package typed

import (
	"encoding/json"
	"strings"
)

// twice is a field that an object in raw gives more than once, or "". Of such
// a field a person who is asked may read one value and the tool take another.
func twice(raw json.RawMessage) string {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	type level struct {
		keys map[string]bool // nil in a list
		key  bool            // the next token is a key
	}
	var open []level
	for {
		tok, err := dec.Token()
		if err != nil {
			return "" // the end
		}
		top := len(open) - 1
		if key, ok := tok.(string); ok && top >= 0 && open[top].key {
			if open[top].keys[key] {
				return key
			}
			open[top].keys[key], open[top].key = true, false
			continue
		}
		switch tok {
		case json.Delim('{'):
			open = append(open, level{keys: map[string]bool{}, key: true})
			continue
		case json.Delim('['):
			open = append(open, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			open = open[:top]
		}
		if top = len(open) - 1; top >= 0 {
			open[top].key = open[top].keys != nil // a value has ended
		}
	}
}
