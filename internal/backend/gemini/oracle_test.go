package gemini

import (
	"encoding/json"
	"slices"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/wire"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/genai"
)

// through reads JSON as one of the SDK's types, strictly, and writes it again.
func through[T any](t *testing.T, what string, p []byte) any {
	t.Helper()
	var v T
	if err := json.Unmarshal(p, &v); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	again, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(again, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// What we send is what Google's own SDK would: every field is one it knows, by
// the same name and with the same meaning.
func TestSentAsTheSDKWould(t *testing.T) {
	var pools wire.Pools
	defer pools.Close()
	temperature, k, think := 0.5, 3, 100
	m := New(backend.Model{
		Name: "gemini-3-pro", Temperature: &temperature, TopP: &temperature, TopK: &k, Think: &think, WebSearch: true, Code: true, MaxOutput: 1000,
	}, "key", &pools).(*model)
	call := backend.Message{From: backend.Assistant, Text: "Looking."}
	if err := json.Unmarshal([]byte(`[{"id":"c1","name":"look","input":{"at":1}}]`), &call.Calls); err != nil {
		t.Fatal(err)
	}
	image := []backend.Image{{Type: "image/png", Data: []byte("png")}}
	sent, err := m.body(backend.Input{
		System: "Be brief.", Tools: []backend.ToolSpec{{Name: "look", Description: "Looks.", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []backend.Message{
			{From: backend.User, Text: "Hello.", Images: image}, call,
			{From: backend.Tool, Results: []backend.ToolResult{{Call: "c1", Name: "look", Text: "seen", Images: image}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var parts struct {
		Contents                                        []json.RawMessage
		SystemInstruction, ToolConfig, GenerationConfig json.RawMessage
		Tools                                           []json.RawMessage
	}
	if err := json.Unmarshal(sent, &parts); err != nil {
		t.Fatal(err)
	}
	same := func(what string, p []byte, got any) {
		t.Helper()
		var want any
		if err := json.Unmarshal(p, &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: the SDK does not know it as we send it: %s", what, diff)
		}
	}
	for _, c := range append(parts.Contents, parts.SystemInstruction) {
		same("a message", c, through[genai.Content](t, "a message", c))
	}
	for _, x := range parts.Tools {
		same("a tool", x, through[genai.Tool](t, "a tool", x))
	}
	same("the tools' settings", parts.ToolConfig, through[genai.ToolConfig](t, "the tools' settings", parts.ToolConfig))
	same("the settings", parts.GenerationConfig, through[genai.GenerationConfig](t, "the settings", parts.GenerationConfig))
}

// The words of the API are the SDK's.
func TestWordsOfTheSDK(t *testing.T) {
	for ours, theirs := range map[string]string{
		roleUser: genai.RoleUser, roleModel: genai.RoleModel, finishStop: string(genai.FinishReasonStop), finishMaxTokens: string(genai.FinishReasonMaxTokens),
		levelMinimal: string(genai.ThinkingLevelMinimal), levelLow: string(genai.ThinkingLevelLow), levelMedium: string(genai.ThinkingLevelMedium),
		levelHigh: string(genai.ThinkingLevelHigh), outcomeOK: string(genai.OutcomeOK),
	} {
		if ours != theirs {
			t.Errorf("%q is %q", ours, theirs)
		}
	}
	for _, r := range []genai.FinishReason{
		genai.FinishReasonSafety, genai.FinishReasonRecitation, genai.FinishReasonBlocklist, genai.FinishReasonProhibitedContent, genai.FinishReasonSPII,
		genai.FinishReasonLanguage, genai.FinishReasonImageSafety, genai.FinishReasonImageProhibitedContent, genai.FinishReasonImageRecitation,
	} {
		if !slices.Contains(refusals, string(r)) {
			t.Errorf("%s is no refusal", r)
		}
	}
	usage := []byte(`{"cachedContentTokenCount":1,"candidatesTokenCount":2,"promptTokenCount":3,"thoughtsTokenCount":4,"toolUsePromptTokenCount":5}`)
	var u usageMetadata
	if err := json.Unmarshal(usage, &u); err != nil {
		t.Fatal(err)
	}
	if theirs := (genai.GenerateContentResponseUsageMetadata{
		CachedContentTokenCount: u.CachedContentTokenCount, CandidatesTokenCount: u.CandidatesTokenCount, PromptTokenCount: u.PromptTokenCount,
		ThoughtsTokenCount: u.ThoughtsTokenCount, ToolUsePromptTokenCount: u.ToolUsePromptTokenCount,
	}); theirs.PromptTokenCount != 3 || theirs.ToolUsePromptTokenCount != 5 {
		t.Errorf("%+v", theirs)
	}
}
