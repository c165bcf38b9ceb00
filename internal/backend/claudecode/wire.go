package claudecode

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// object is a line to be sent.
type object = map[string]any

// A line is what the program prints, as far as it is looked at.
type line struct {
	Type     string          `json:"type"`
	Subtype  string          `json:"subtype"`
	UUID     string          `json:"uuid"`
	Parent   string          `json:"parent_tool_use_id"`
	IsReplay bool            `json:"isReplay"`
	Message  json.RawMessage `json:"message"`
	Event    json.RawMessage `json:"event"`
	State    string          `json:"state"` // session_state_changed

	// system/api_retry
	Attempt     int `json:"attempt"`
	RetryStatus int `json:"error_status"`

	// Of a message of the assistant's that the program made up, and of api_retry.
	Error json.RawMessage `json:"error"`

	// system/init
	Version string `json:"claude_code_version"`
	Servers []struct {
		Name   string `json:"name"`
		Status string `json:"status"`
	} `json:"mcp_servers"`

	// system/task_*
	Task     string `json:"task_id"`
	TaskType string `json:"task_type"`
	Patch    struct {
		Status string `json:"status"`
	} `json:"patch"`

	// result
	IsError    bool     `json:"is_error"`
	Status     int      `json:"api_error_status"`
	Result     string   `json:"result"`
	Errors     []string `json:"errors"`
	StopReason string   `json:"stop_reason"`
	Cost       float64  `json:"total_cost_usd"`
	Usage      usage    `json:"usage"`

	// control_request, control_cancel_request
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`

	// control_response
	Response struct {
		Subtype   string          `json:"subtype"`
		RequestID string          `json:"request_id"`
		Error     string          `json:"error"`
		Response  json.RawMessage `json:"response"`
	} `json:"response"`
}

// parse reads a line. Fields that are not as expected are passed over; what is no
// object at all is not a line.
func parse(p []byte) (l line, ok bool) {
	if json.Unmarshal(p, &l) == nil {
		return l, true
	}
	if !json.Valid(p) || p[0] != '{' {
		return line{}, false
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(p, &fields)
	l = line{}
	for name, value := range fields {
		one, _ := json.Marshal(map[string]json.RawMessage{name: value})
		_ = json.Unmarshal(one, &l) // as far as it goes
	}
	return l, true
}

type usage struct {
	Input   int64 `json:"input_tokens"`
	Created int64 `json:"cache_creation_input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

func (u usage) event() event.Usage {
	return event.Usage{Input: u.Input + u.Created + u.Read, Cached: u.Read, Output: u.Output}
}

// A message is what a user or assistant line holds.
type message struct {
	ID      string `json:"id"`
	Content blocks `json:"content"`
}

// blocks may be written as one text.
type blocks []block

func (b *blocks) UnmarshalJSON(p []byte) error {
	if text := ""; json.Unmarshal(p, &text) == nil {
		*b = blocks{{Type: "text", Text: text}}
		return nil
	}
	return json.Unmarshal(p, (*[]block)(b))
}

// text is what is said in blocks.
func (b blocks) text() string {
	var parts []string
	for _, c := range b {
		switch c.Type {
		case "text":
			parts = append(parts, c.Text)
		case "image":
			parts = append(parts, "(a picture)")
		}
	}
	return strings.Join(parts, "\n")
}

type block struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	CallID   string          `json:"tool_use_id"`
	Content  blocks          `json:"content"`
	IsError  bool            `json:"is_error"`
}

// A piece is an event of the model's stream.
type piece struct {
	Type  string `json:"type"`
	Delta struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Thinking string `json:"thinking"`
	} `json:"delta"`
}

// A request is what the program wants of us.
type request struct {
	Subtype string `json:"subtype"`
	// can_use_tool
	Tool  string          `json:"tool_name"`
	Input json.RawMessage `json:"input"`
	Call  string          `json:"tool_use_id"`
	// mcp_message
	Message rpc `json:"message"`
}

// userLine is something said to the program. A text that begins with a slash would
// be a command to it.
func userLine(id, text string, images []backend.Image) object {
	if strings.HasPrefix(text, "/") {
		text = " " + text
	}
	var content any = text
	if len(images) > 0 {
		list := []object{}
		for _, i := range images {
			list = append(list, object{"type": "image", "source": object{"type": "base64", "media_type": i.Type, "data": i.Data}})
		}
		content = append(list, object{"type": "text", "text": text})
	}
	return object{"type": "user", "uuid": id, "message": object{"role": "user", "content": content}}
}

// newID is a random UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

var id = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// isID reports whether a name of a conversation may stand on a command line.
func isID(s string) bool { return id.MatchString(s) }
