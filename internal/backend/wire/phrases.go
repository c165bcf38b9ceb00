package wire

import (
	"strings"

	"conclave/internal/backend"
)

// A phrase is what a provider writes, in lower case, by which an error is known
// better than by its status. All of its parts have to be there.
type phrase struct {
	kind  backend.ErrorKind
	parts []string
}

func (p phrase) matches(text string) bool {
	for _, part := range p.parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

func says(k backend.ErrorKind, parts ...string) phrase { return phrase{k, parts} }

// phrases are tried in order.
var phrases = []phrase{
	// The key, or the account behind it.
	says(backend.Auth, "api key not valid"),       // Gemini, 400
	says(backend.Auth, "api_key_invalid"),         // Gemini
	says(backend.Auth, "incorrect api key"),       // OpenAI, xAI (400)
	says(backend.Auth, "insufficient_quota"),      // OpenAI, 429
	says(backend.Auth, "credit balance is too"),   // Anthropic, 400
	says(backend.Auth, "insufficient credits"),    // OpenRouter, 402
	says(backend.Auth, "insufficient balance"),    // DeepSeek, Moonshot
	says(backend.Auth, "exceeded_current_quota"),  // Moonshot, 429
	says(backend.Auth, "billing_hard_limit"),      // OpenAI
	says(backend.Auth, "billing_not_active"),      // OpenAI, 429
	says(backend.Auth, "spending limit", "reach"), // several

	// What was asked, or would have been said, is not allowed.
	says(backend.Declined, "content filtering policy"), // Anthropic, 400
	says(backend.Declined, "content_filter"),           // Azure, 400
	says(backend.Declined, "content_policy_violation"), // OpenAI
	says(backend.Declined, "responsibleaipolicy"),      // Azure
	says(backend.Declined, "data_inspection_failed"),   // Qwen
	says(backend.Declined, "requires moderation"),      // OpenRouter, 403
	says(backend.Declined, "safety system"),            // OpenAI

	// More than fits.
	says(backend.TooLong, "context_length_exceeded"),                   // OpenAI, Groq, Azure
	says(backend.TooLong, "exceeds the context window"),                // OpenAI Responses
	says(backend.TooLong, "string_above_max_length"),                   // OpenAI
	says(backend.TooLong, "maximum context length"),                    // OpenAI, vLLM, OpenRouter, Mistral, SGLang, DeepSeek
	says(backend.TooLong, "prompt is too long"),                        // Anthropic
	says(backend.TooLong, "request_too_large"),                         // Anthropic, 413
	says(backend.TooLong, "exceed context limit"),                      // Anthropic
	says(backend.TooLong, "input token count", "exceeds the maximum"),  // Gemini
	says(backend.TooLong, "request too large for"),                     // Groq 413, OpenAI 429
	says(backend.TooLong, "reduce the length of the messages"),         // Groq, Cerebras, OpenAI
	says(backend.TooLong, "too large for model", "context length"),     // Mistral
	says(backend.TooLong, "longer than the maximum model length"),      // vLLM
	says(backend.TooLong, "longer than the model's context length"),    // SGLang
	says(backend.TooLong, "maximum prompt length"),                     // xAI
	says(backend.TooLong, "exceeds the context length"),                // Ollama
	says(backend.TooLong, "exceeded max context length"),               // Ollama
	says(backend.TooLong, "exceeds the available context size"),        // llama.cpp
	says(backend.TooLong, "exceed_context_size"),                       // llama.cpp
	says(backend.TooLong, "context length of only"),                    // LM Studio
	says(backend.TooLong, "exceeded model token limit"),                // Moonshot
	says(backend.TooLong, "prompt exceeds max length"),                 // Z.ai
	says(backend.TooLong, "range of input length should be"),           // Qwen
	says(backend.TooLong, "tokens + `max_new_tokens` must be"),         // Together
	says(backend.TooLong, "the prompt is too long"),                    // Fireworks
	says(backend.TooLong, "prompt contains", "tokens", "too large"),    // Mistral
	says(backend.TooLong, "input is too long for requested model"),     // Bedrock, behind OpenRouter
	says(backend.TooLong, "too many tokens in the prompt"),             // Cohere, behind OpenRouter
	says(backend.TooLong, "max_tokens", "exceed", "context window"),    // Anthropic
	says(backend.TooLong, "input length", "exceeds", "context"),        // vLLM
	says(backend.TooLong, "requested token count exceeds", "context"),  // SGLang
	says(backend.TooLong, "requested tokens", "exceed context window"), // llama-cpp-python
	says(backend.TooLong, "prompt_too_long"),                           // NVIDIA NIM
	says(backend.TooLong, "is greater than the model's", "context"),    // TGI
	says(backend.TooLong, "model_context_window_exceeded"),             // Anthropic
}
