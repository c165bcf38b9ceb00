package gemini

// What of Gemini's API is used, by the names its own SDK has for it. The SDK's
// types are held against these in a test; linking it would cost every start of
// the program a third of its time.

const (
	roleUser  = "user"
	roleModel = "model"
)

type content struct {
	Parts []*genPart `json:"parts,omitempty"`
	Role  string     `json:"role,omitempty"`
}

// A genPart is a piece of a message, as it is sent.
type genPart struct {
	FunctionCall     *functionCall     `json:"functionCall,omitempty"`
	FunctionResponse *functionResponse `json:"functionResponse,omitempty"`
	InlineData       *blob             `json:"inlineData,omitempty"`
	Text             string            `json:"text,omitempty"`
	ThoughtSignature []byte            `json:"thoughtSignature,omitempty"`
}

type blob struct {
	Data     []byte `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

type functionCall struct {
	ID   string         `json:"id,omitempty"`
	Args map[string]any `json:"args,omitempty"`
	Name string         `json:"name,omitempty"`
}

type functionResponse struct {
	Parts    []*responsePart `json:"parts,omitempty"`
	ID       string          `json:"id,omitempty"`
	Name     string          `json:"name,omitempty"`
	Response map[string]any  `json:"response,omitempty"`
}

type responsePart struct {
	InlineData *blob `json:"inlineData,omitempty"`
}

type genTool struct {
	GoogleSearch         *struct{}              `json:"googleSearch,omitempty"`
	CodeExecution        *struct{}              `json:"codeExecution,omitempty"`
	FunctionDeclarations []*functionDeclaration `json:"functionDeclarations,omitempty"`
}

type functionDeclaration struct {
	Description          string `json:"description,omitempty"`
	Name                 string `json:"name,omitempty"`
	ParametersJsonSchema any    `json:"parametersJsonSchema,omitempty"`
}

type toolConfig struct {
	IncludeServerSideToolInvocations *bool `json:"includeServerSideToolInvocations,omitempty"`
}

type generationConfig struct {
	MaxOutputTokens int32           `json:"maxOutputTokens,omitempty"`
	Temperature     *float32        `json:"temperature,omitempty"`
	ThinkingConfig  *thinkingConfig `json:"thinkingConfig,omitempty"`
	TopK            *float32        `json:"topK,omitempty"`
	TopP            *float32        `json:"topP,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int32 `json:"thinkingBudget,omitempty"`
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

// Levels of thinking.
const (
	levelMinimal = "MINIMAL"
	levelLow     = "LOW"
	levelMedium  = "MEDIUM"
	levelHigh    = "HIGH"
)

// Reasons why a reply ends.
const (
	finishStop      = "STOP"
	finishMaxTokens = "MAX_TOKENS"
)

// refusals are the reasons that mean the model, or the provider, would not.
var refusals = []string{
	"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE",
	"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION",
}

type executableCode struct {
	Code string `json:"code,omitempty"`
	ID   string `json:"id,omitempty"`
}

type codeExecutionResult struct {
	Outcome string `json:"outcome,omitempty"`
	Output  string `json:"output,omitempty"`
	ID      string `json:"id,omitempty"`
}

const outcomeOK = "OUTCOME_OK"

type groundingMetadata struct {
	GroundingChunks []*struct {
		Web *struct {
			Title string `json:"title,omitempty"`
			URI   string `json:"uri,omitempty"`
		} `json:"web,omitempty"`
	} `json:"groundingChunks,omitempty"`
	WebSearchQueries []string `json:"webSearchQueries,omitempty"`
}

type usageMetadata struct {
	CachedContentTokenCount int32 `json:"cachedContentTokenCount,omitempty"`
	CandidatesTokenCount    int32 `json:"candidatesTokenCount,omitempty"`
	PromptTokenCount        int32 `json:"promptTokenCount,omitempty"`
	ThoughtsTokenCount      int32 `json:"thoughtsTokenCount,omitempty"`
	ToolUsePromptTokenCount int32 `json:"toolUsePromptTokenCount,omitempty"`
}
