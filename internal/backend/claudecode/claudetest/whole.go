package claudetest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
)

// whole answers in one piece, as the program wants it when a stream was cut: the
// stream is played to nobody and put together.
func whole(model http.Handler, w http.ResponseWriter, r *http.Request, fields map[string]any) {
	fields["stream"] = true
	body, err := json.Marshal(fields)
	if err != nil {
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	played := httptest.NewRecorder()
	model.ServeHTTP(played, r)
	if played.Code != http.StatusOK {
		w.WriteHeader(played.Code)
		_, _ = w.Write(played.Body.Bytes())
		return
	}
	message, complete := together(played.Body.String())
	if !complete {
		panic(http.ErrAbortHandler) // it is cut as well
	}
	answer, err := json.Marshal(message)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
	_, _ = w.Write(answer)
}

// together is the message that a stream amounts to.
func together(stream string) (message map[string]any, complete bool) {
	var content []map[string]any
	input := ""
	for line := range strings.Lines(stream) {
		data, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var e struct {
			Type    string
			Message map[string]any
			Block   map[string]any `json:"content_block"`
			Delta   map[string]any
			Usage   map[string]any
		}
		if json.Unmarshal([]byte(data), &e) != nil {
			return nil, false
		}
		switch e.Type {
		case "message_start":
			message = e.Message
		case "content_block_start":
			content, input = append(content, e.Block), ""
		case "content_block_delta":
			block := content[len(content)-1]
			for _, field := range []string{"text", "thinking", "signature"} {
				if s, ok := e.Delta[field].(string); ok {
					had, _ := block[field].(string)
					block[field] = had + s
				}
			}
			if s, ok := e.Delta["partial_json"].(string); ok {
				input += s
			}
		case "content_block_stop":
			if block := content[len(content)-1]; block["type"] == "tool_use" && json.Valid([]byte(input)) {
				block["input"] = json.RawMessage(input)
			}
		case "message_delta":
			message["stop_reason"] = e.Delta["stop_reason"]
			if u, ok := message["usage"].(map[string]any); ok {
				u["output_tokens"] = e.Usage["output_tokens"]
			}
		case "message_stop":
			message["content"] = content
			return message, true
		}
	}
	return nil, false
}
