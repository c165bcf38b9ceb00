package claudecode_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/claudecode/claudetest"
	"conclave/internal/backend/cli/clitest"
)

// That the program asks its model again is told, and is no failure.
func TestTriesAgain(t *testing.T) {
	t.Parallel()
	r, err := take(t, part(t, "patient", nil), &clitest.Steward{}, nil)
	if want := "The model's server answers 529; trying again.\nThe model's server does not answer; trying again.\n"; err != nil || r.Thinking != want || r.Text != "At last." {
		t.Errorf("said %q after %q, %v", r.Text, r.Thinking, err)
	}
}

// A file that is no program, as a package leaves it whose installation was cut, is
// not tried again.
func TestNoProgram(t *testing.T) {
	t.Parallel()
	stub := filepath.Join(t.TempDir(), "claude")
	if err := os.WriteFile(stub, []byte("echo native binary not installed\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := take(t, backend.Program{Provider: "claude_code", Command: []string{stub}, BaseURL: "http://127.0.0.1:1"}, &clitest.Steward{}, nil)
	if backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "install it again") {
		t.Errorf("ended with %v", err)
	}
}

// The real program ends its turn at the first refusal of a key, and soon where nobody
// is at its model's address; both are named.
func TestRealTrouble(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			asked.Add(1)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte(`{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`))
	}))
	t.Cleanup(srv.Close)
	for base, want := range map[string]struct {
		kind backend.ErrorKind
		says string
	}{
		srv.URL:              {backend.Auth, "the key of ada in team.yaml was refused by 127.0.0.1:"},
		"http://127.0.0.1:1": {backend.Unreachable, "127.0.0.1:1 cannot be reached"},
	} {
		t.Run(string(want.kind), func(t *testing.T) {
			t.Parallel()
			p := claudetest.Program(clitest.Installed(t, clitest.Claude), base)
			p.Env = nil // it may try again as often as it is let
			p.Key = backend.Key{File: "team.yaml", Agent: "ada"}
			_, err := take(t, p, &clitest.Steward{}, nil)
			if n := asked.Load(); backend.KindOf(err) != want.kind || !strings.HasPrefix(err.Error(), want.says) || n > 2 {
				t.Errorf("asked %d times: %v", n, err)
			}
		})
	}
}
