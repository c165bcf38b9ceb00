package backend

import "encoding/json"

// Arguments is what a model wrote as a tool call's input, in the form a
// [event.ToolCall] carries it: JSON as it stands, anything else as a JSON string
// of what was written, nothing at all as an empty object.
func Arguments(written string) json.RawMessage {
	if written == "" {
		return json.RawMessage("{}")
	}
	if json.Valid([]byte(written)) {
		return json.RawMessage(written)
	}
	quoted, err := json.Marshal(written)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return quoted
}
