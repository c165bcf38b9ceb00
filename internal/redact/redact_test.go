package redact_test

import (
	"strings"
	"testing"

	"conclave/internal/redact"
)

func TestRedact(t *testing.T) {
	clean := redact.New("hunter2-hunter2", "hunter2-hunter2-longer", "short", " padded-secret-value\n", "")
	for _, tt := range []struct{ in, want string }{
		{"the password is hunter2-hunter2.", "the password is [redacted]."},
		{"hunter2-hunter2-longer hunter2-hunter2", "[redacted] [redacted]"},
		{"a short word stays short", "a short word stays short"},
		{"padded-secret-value", "[redacted]"},
		{"ANTHROPIC_API_KEY=sk-ant-api03-" + strings.Repeat("aB3_", 20), "ANTHROPIC_API_KEY=[redacted]"},
		{"Bearer sk-proj-" + strings.Repeat("x1", 24), "Bearer [redacted]"},
		{"sk-learn and risk-averse", "sk-learn and risk-averse"},
		{"key=AIza" + strings.Repeat("s", 35) + "&", "key=[redacted]&"},
		{"ghp_" + strings.Repeat("a", 36), "[redacted]"},
		{"AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nafter", "[redacted]\nafter"},
		{"-----BEGIN PRIVATE KEY-----\ncut off", "[redacted]"},
		{"-----BEGIN CERTIFICATE-----", "-----BEGIN CERTIFICATE-----"},
		{"", ""},
	} {
		if got := clean(tt.in); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.in, got, tt.want)
		}
	}
	if got := redact.New()("plain"); got != "plain" {
		t.Errorf("%q", got)
	}
}

func FuzzRedact(f *testing.F) {
	f.Add("sk-ant-api03-aaaaaaaaaaaaaaaaaaaaaaaa", "a secret value")
	f.Fuzz(func(t *testing.T, text, secret string) {
		out := redact.New(secret)(text + secret + text)
		if s := strings.TrimSpace(secret); len(s) >= 8 && !strings.Contains(redact.Mark, s) && strings.Contains(out, s) {
			t.Errorf("%q is still in %q", secret, out)
		}
	})
}

// Ordinary words are left alone: an agent could not edit what it is not shown.
func TestOrdinaryTextStays(t *testing.T) {
	clean := redact.New()
	for _, s := range []string{
		"docs/task-runner-with-typed-dependencies-and-retries.md",
		"git checkout fix/disk-usage-report-of-large-directories-2026",
		"class=\"mask-image-linear-gradient-from-top-to-bottom\"",
		"public key: -----BEGIN PUBLIC KEY-----",
	} {
		if got := clean(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}
