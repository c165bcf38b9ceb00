package codex_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/cli/clitest"
	"conclave/internal/backend/codex"
)

// The real program with nobody at its model's address, and with a key that is
// refused: both are named.
func TestTrouble(t *testing.T) {
	t.Setenv("SOME_KEY", secret)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"error":{"message":"Incorrect API key provided","code":"invalid_api_key"}}`))
	}))
	defer srv.Close()
	for base, want := range map[string]struct {
		kind backend.ErrorKind
		says string
	}{
		"http://127.0.0.1:1/v1": {backend.Unreachable, "127.0.0.1:1 cannot be reached"},
		srv.URL + "/v1":         {backend.Auth, "SOME_KEY was refused by 127.0.0.1:"},
	} {
		p := backend.Program{Provider: "codex", Model: "test-model", Command: []string{clitest.Installed(t, clitest.Codex)}, BaseURL: base, Key: backend.Key{Env: []string{"SOME_KEY"}}}
		s := seat{codex.New(p, secret), clitest.NewRoom(t)}
		_, err := s.say(t.Context(), user("hello"))
		if backend.KindOf(err) != want.kind || !strings.HasPrefix(err.Error(), want.says) || strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), "/responses") {
			t.Errorf("%s: ended with %v", base, err)
		}
		_ = s.Backend.(backend.Closer).Close()
	}
}
