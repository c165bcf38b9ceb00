package app

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/event"
	"conclave/internal/gear"
)

// The keys a run uses are secrets whatever their variables are called, and so is
// what servers are handed in a header or in a variable named for a secret.
func TestSecretsOfSeats(t *testing.T) {
	for name, v := range map[string]string{
		"MY_OWN_VARIABLE": "value-of-my-own", "MY_ENGINE": "value-of-search", "MY_HEADER": "value-of-header",
		"MY_TOKEN": "value-of-token", "MY_FOLDER": "value-of-folder",
	} {
		t.Setenv(name, v)
	}
	file := filepath.Join(t.TempDir(), "team.yaml")
	written := "agents: [{id: b, backend: {type: claude, model: m, api_key: value-in-the-file}}]\n"
	if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
		t.Fatal(err)
	}
	got := secrets([]event.Seat{
		{Options: options(backend.Model{Provider: "claude", Key: backend.Key{Env: []string{"MY_OWN_VARIABLE"}}}), Gear: options(gear.Gear{
			Search: &gear.Search{Key: "MY_ENGINE"},
			Servers: []gear.Server{{
				Headers: map[string]string{"X-User": "Bearer ${MY_HEADER}"},
				Env:     map[string]string{"A": "${MY_TOKEN}", "B": "${MY_FOLDER}/x"},
			}},
		})},
		{Options: options(backend.Model{Provider: "claude", Key: backend.Key{File: file, Agent: "b"}})},
		{Options: options(scripted{Persona: "sceptic"})},
	})
	for _, want := range []string{"value-of-my-own", "value-of-search", "value-of-header", "value-of-token", "value-in-the-file"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is no secret", want)
		}
	}
	if slices.Contains(got, "value-of-folder") {
		t.Error("a folder is a secret")
	}
}

// The doctor shows no key, not even one that is written out in a file and echoed.
func TestDoctorShowsNoKey(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"error":{"message":"bad key `+r.Header.Get("X-Api-Key")+`"}}`, http.StatusUnauthorized)
	}))
	t.Cleanup(srv.Close)
	a := account{Model: backend.Model{Provider: "claude", BaseURL: srv.URL, Key: backend.Key{File: "team.yaml", Agent: "a"}}, key: "value-in-the-file"}
	a.err = a.ask(t.Context(), srv.Client())
	if s := a.trouble(); !strings.Contains(s, "bad key [key]") || strings.Contains(s, a.key) {
		t.Error(s)
	}
}
