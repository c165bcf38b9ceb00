package claudecode

import (
	"encoding/json"

	"conclave/internal/backend"
	"conclave/internal/event"
)

// An rpc is a message of the program's MCP client.
type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Protocol string          `json:"protocolVersion"`
		Name     string          `json:"name"`
		Input    json.RawMessage `json:"arguments"`
		Meta     struct {
			Call string `json:"claudecode/toolUseId"`
		} `json:"_meta"`
		Request json.RawMessage `json:"requestId"` // of notifications/cancelled
	} `json:"params"`
}

// serve answers what our tools' MCP server is asked besides calls, at once: the
// program asks between turns as well, and says everything twice.
func (s *session) serve(l line) bool {
	var r request
	if json.Unmarshal(l.Request, &r) != nil || r.Subtype != "mcp_message" {
		return false
	}
	switch r.Message.Method {
	case "tools/call", "notifications/cancelled":
		return false
	case "initialize":
		s.reply(l, r, object{
			"protocolVersion": r.Message.Params.Protocol, "capabilities": object{"tools": object{}},
			"serverInfo": object{"name": server, "version": "1"},
		})
	case "tools/list":
		s.reply(l, r, object{"tools": s.specs()})
		s.once.Do(func() { close(s.listed) })
	default: // ping and notifications
		s.reply(l, r, object{})
	}
	return true
}

// specs are our tools as MCP lists them.
func (s *session) specs() []object {
	out := []object{}
	for _, t := range s.tools {
		schema := t.Schema
		if len(schema) == 0 || !json.Valid(schema) {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		out = append(out, object{"name": t.Name, "description": t.Description, "inputSchema": schema})
	}
	return out
}

// reply answers an MCP request. Notifications are answered too, with any id.
func (s *session) reply(l line, r request, result object) {
	id := r.Message.ID
	if len(id) == 0 {
		id = json.RawMessage("0")
	}
	s.answer(l.RequestID, object{"mcp_response": object{"jsonrpc": "2.0", "id": id, "result": result}})
}

// returned is a tool's result as MCP has it.
func returned(r backend.ToolResult) object {
	content := []object{{"type": "text", "text": r.Text}}
	for _, i := range r.Images {
		content = append(content, object{"type": "image", "mimeType": i.Type, "data": i.Data})
	}
	return object{"content": content, "isError": r.Error}
}

// call is the call of one of our tools.
func (r request) call() event.ToolCall {
	p := r.Message.Params
	c := event.ToolCall{ID: p.Meta.Call, Name: p.Name, Input: p.Input}
	if c.ID == "" {
		c.ID = newID()
	}
	if len(c.Input) == 0 || string(c.Input) == "null" {
		c.Input = json.RawMessage("{}")
	}
	return c
}

// refuse answers a request that nobody will look into.
func (s *session) refuse(l line, why string) {
	var r request
	_ = json.Unmarshal(l.Request, &r)
	switch r.Subtype {
	case "can_use_tool":
		s.answer(l.RequestID, object{"behavior": "deny", "message": why})
	case "mcp_message":
		s.reply(l, r, returned(backend.ToolResult{Text: why, Error: true}))
	default:
		s.send(object{"type": "control_response", "response": object{"subtype": "error", "request_id": l.RequestID, "error": "Conclave does not know " + r.Subtype}})
	}
}
