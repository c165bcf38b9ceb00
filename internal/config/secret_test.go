package config

import (
	"fmt"
	"strings"
	"testing"
)

// No broken configuration leads to its secrets being printed.
func TestSecretsStaySecret(t *testing.T) {
	const key = "sk-hunter2"
	t.Setenv("KEY", key)
	head := "agents:\n  - id: a\n    backend:\n      type: demo\n      persona: sceptic\n"
	for _, line := range []string{
		"api_key: " + key, "api_key: [" + key + "]", `api_key: "` + key, "api_key: '" + key, "api_key: {" + key,
		"api_key: *" + key, "api_key: &a *" + key, "api_key: !" + key + " x", "api_key: |\n    " + key, "api_key:\n        " + key + "\n       x",
		"api_key: " + key + ": x", "api_key: a\n      api_key: " + key, "api_ky: " + key, "auth_token: [" + key, "pace: ${KEY}", "model: [${KEY}]",
		"persona: ${KEY}", "type: ${KEY}",
	} {
		_, err := Parse("team.yaml", []byte(head+"      "+line+"\n"))
		if err != nil && strings.Contains(fmt.Sprintf("%#v %v", err.(*Error).Problems, err), key) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// Supported keys that hold secrets hide what is wrong with them, too.
func TestSecretValues(t *testing.T) {
	type login struct{ key, token string }
	rows := []row[login]{
		plain("api_key", name(), func(l *login) *string { return &l.key }, "A key."),
		plain("access_token", same("a", "b"), func(l *login) *string { return &l.token }, "A token."),
	}
	r := &reader{file: "f", lookup: func(string) (string, bool) { return "", false }, given: map[string]entry{}}
	root, ok := r.open([]byte("api_key: 12345\naccess_token: hunter2\n"))
	if !ok {
		t.Fatal(r.problems)
	}
	var l login
	fill(r, entry{node: root}, rows, &l)
	_, err := (&File{}).sealed(r)
	const want = "f:1:10: api_key must be text on one line\nf:2:15: access_token must be a or b"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	for _, p := range r.problems {
		if p.Text != "" {
			t.Errorf("%s shows %q", p.Key, p.Text)
		}
	}
}

func TestSecret(t *testing.T) {
	for path, want := range map[string]bool{
		"agents[0].backend.api_key": true, "a.github-token": true, "x.client_secret": true, "apikey": true, "headers.Authorization": true,
		"aws_access_key": true, "credentials.user": true, "Password": true,
		"orchestrator.max_tokens": false, "key": false, "keys.a": false, "monkey": false, "agents[0].backend.type": false,
	} {
		if got := secret(path); got != want {
			t.Errorf("secret(%q) is %v", path, got)
		}
	}
}
