package codex

import (
	"encoding/json"
	"strings"

	"conclave/internal/backend"
)

// The part of the app-server protocol that is used. Unknown fields, notifications
// and kinds of items are let pass: they change with every version.

type helloParams struct {
	Client       clientInfo   `json:"clientInfo"`
	Capabilities capabilities `json:"capabilities"`
}

type clientInfo struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type capabilities struct {
	Experimental bool `json:"experimentalApi"` // dynamic tools are
	Attestation  bool `json:"requestAttestation"`
}

type helloResult struct {
	UserAgent string `json:"userAgent"` // conclave/0.166.0 (Debian …) …
}

// version is the server's own in what it calls itself, which begins with the name
// of the client.
func version(agent string) string {
	_, rest, _ := strings.Cut(agent, "/")
	v, _, _ := strings.Cut(rest, " ")
	return v
}

type threadParams struct {
	ID           string        `json:"threadId,omitempty"` // to resume
	NoTurns      bool          `json:"excludeTurns,omitempty"`
	Dir          string        `json:"cwd"`
	Approval     string        `json:"approvalPolicy"`
	Sandbox      string        `json:"sandbox"`
	Instructions string        `json:"developerInstructions,omitempty"`
	Tools        []dynamicTool `json:"dynamicTools,omitempty"`
	Ephemeral    bool          `json:"ephemeral,omitempty"`
}

type dynamicTool struct {
	Type        string          `json:"type"` // function
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"inputSchema"`
}

type threadResult struct {
	Thread struct {
		ID string `json:"id"`
	} `json:"thread"`
}

type turnParams struct {
	Thread   string `json:"threadId"`
	Turn     string `json:"turnId,omitempty"`         // to interrupt
	Expected string `json:"expectedTurnId,omitempty"` // to steer
	// Message is our name for what is said; the item that takes it in has it.
	Message string      `json:"clientUserMessageId,omitempty"`
	Input   []userInput `json:"input,omitempty"`
}

type userInput struct {
	Type string `json:"type"` // text, image
	Text string `json:"text,omitempty"`
	// Elements is not optional for text.
	Elements []struct{} `json:"text_elements,omitzero"`
	URL      string     `json:"url,omitempty"`
}

type turnsParams struct {
	Thread string `json:"threadId"`
	Limit  int    `json:"limit"`
	Sort   string `json:"sortDirection"`
	Items  string `json:"itemsView"`
}

type turnsResult struct {
	Data []struct {
		Items []item `json:"items"`
	} `json:"data"`
}

type turnResult struct {
	Turn turnState `json:"turn"`
}

type turnState struct {
	ID     string     `json:"id"`
	Status string     `json:"status"` // completed, interrupted, failed, inProgress
	Error  *turnError `json:"error"`
}

type turnError struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"`
	Details string          `json:"additionalDetails"`
}

// An update is whatever notifications and requests of a thread carry.
type update struct {
	Thread string    `json:"threadId"`
	TurnID string    `json:"turnId"`
	Turn   turnState `json:"turn"`
	Item   item      `json:"item"`
	ItemID string    `json:"itemId"`
	Delta  string    `json:"delta"`
	Part   int       `json:"summaryIndex"`
	Usage  struct {
		Last tokens `json:"last"`
	} `json:"tokenUsage"`

	// Of a call of one of our tools.
	CallID    string          `json:"callId"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	// Of a permission.
	Kind    string `json:"kind"` // command, writeStdin
	Command string `json:"command"`
	Dir     string `json:"cwd"`
	Reason  string `json:"reason"`
	// Of a thread: notLoaded, idle, active, systemError.
	Status struct {
		Type string `json:"type"`
	} `json:"status"`
	// Of what went wrong.
	Error turnError `json:"error"`
	Again bool      `json:"willRetry"`
}

type tokens struct {
	Input     int64 `json:"inputTokens"`
	Cached    int64 `json:"cachedInputTokens"`
	Stored    int64 `json:"cacheWriteInputTokens"`
	Output    int64 `json:"outputTokens"`
	Reasoning int64 `json:"reasoningOutputTokens"`
}

// An item is something in a turn: a message, a thought, the use of a tool.
type item struct {
	Type     string   `json:"type"`
	ID       string   `json:"id"`
	ClientID string   `json:"clientId"` // of a user's message
	Text     string   `json:"text"`
	Status   string   `json:"status"`
	Command  string   `json:"command"`
	Dir      string   `json:"cwd"`
	Output   string   `json:"aggregatedOutput"`
	Exit     *int     `json:"exitCode"`
	Changes  []change `json:"changes"`
	// Of a tool of an MCP server or of a subagent.
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Prompt    string          `json:"prompt"`
	Query     string          `json:"query"`
	Path      string          `json:"path"`
	// Content is what one of our tools returned.
	Content []contentItem `json:"contentItems"`
	// Of agents of its own: their threads, and what is known of them.
	Receivers []string `json:"receiverThreadIds"`
	States    map[string]struct {
		Status string `json:"status"` // pendingInit, running, completed …
	} `json:"agentsStates"`
	Agent    string `json:"agentThreadId"`
	Activity string `json:"kind"` // started, completed …
}

// A change is what a patch does to a file.
type change struct {
	Path string `json:"path"`
	Kind struct {
		Type string `json:"type"` // add, delete, update
		Move string `json:"move_path"`
	} `json:"kind"`
	Diff string `json:"diff"`
}

type toolResult struct {
	Success bool          `json:"success"`
	Content []contentItem `json:"contentItems"`
}

type contentItem struct {
	Type string `json:"type"` // inputText, inputImage
	Text string `json:"text,omitempty"`
	URL  string `json:"imageUrl,omitempty"`
}

type decision struct {
	Decision string `json:"decision"` // accept, decline
}

// functions are the host's tools as Codex takes them.
func functions(tools []backend.ToolSpec) []dynamicTool {
	var out []dynamicTool
	for _, t := range tools {
		out = append(out, dynamicTool{Type: "function", Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return out
}
