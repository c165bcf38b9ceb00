package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxDepth is how deep an input may be.
const maxDepth = 100

// A level is an object or a list that is open.
type level struct {
	keys map[string]bool // nil in a list
	key  bool            // the next token is a field
}

// checkInput is what is wrong with the input of a call, whatever the tool: a
// sentence, or nothing. Whether it fits the schema is for the server to say.
// A field given twice is refused because a person who is asked may read one
// value and the server take the other.
func checkInput(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	const noObject = "The input of the call is not a JSON object."
	if first, err := dec.Token(); err != nil || first != json.Delim('{') {
		return noObject
	}
	open := []level{{keys: map[string]bool{}, key: true}}
	for len(open) > 0 {
		tok, err := dec.Token()
		if err != nil {
			return noObject
		}
		if len(open) > maxDepth {
			return fmt.Sprintf("The input of the call is nested more than %d deep. Make it flatter.", maxDepth)
		}
		var wrong string
		if open, wrong = step(open, tok); wrong != "" {
			return wrong
		}
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return noObject
	}
	return ""
}

// step is what is open after a token.
func step(open []level, tok json.Token) ([]level, string) {
	top := len(open) - 1
	if key, ok := tok.(string); ok && open[top].key {
		if open[top].keys[key] {
			return nil, fmt.Sprintf("The field %.100q is given twice. Give it once.", key)
		}
		open[top].keys[key], open[top].key = true, false
		return open, ""
	}
	switch tok := tok.(type) {
	case json.Number:
		if _, err := tok.Float64(); err != nil {
			return nil, fmt.Sprintf("The number %.40s is too large. Give a smaller one.", tok)
		}
	case json.Delim:
		switch tok {
		case '{':
			return append(open, level{keys: map[string]bool{}, key: true}), ""
		case '[':
			return append(open, level{}), ""
		}
		open = open[:top]
	}
	if top = len(open) - 1; top >= 0 {
		open[top].key = open[top].keys != nil // a value has ended
	}
	return open, ""
}
