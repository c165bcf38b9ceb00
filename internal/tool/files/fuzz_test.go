package files_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"conclave/internal/confine"
	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/files"
)

// FuzzInput gives every tool whatever a model may write: no panic, no error of
// ours, never more than a result may hold, and nothing outside the place is
// touched.
func FuzzInput(f *testing.F) {
	for _, in := range []string{
		`{}`, `null`, `[]`, `"x"`, `{"path":"a.txt"}`, `{"path":"../outside/secret"}`, `{"path":"/etc/passwd"}`, `{"path":"link/secret"}`,
		`{"path":"a.txt","content":"x"}`, `{"path":"a.txt","old":"hello","new":"y","replace_all":true}`, `{"path":".","pattern":"**/*"}`,
		`{"pattern":"he.*o","path":"."}`, `{"pattern":"(","path":"."}`, `{"from":"a.txt","to":"../outside/x"}`, `{"from":"a.txt","to":".git/x"}`,
		`{"path":"a.txt","offset":-1,"limit":1e9}`, `{"path":"a.txt","offset":9223372036854775807}`, `{"path":"` + "\x00" + `"}`, `{"path":1}`, `{"path":"a.txt","path":"b.txt"}`,
		`{"path":".","recursive":true}`, `{"path":"dir","recursive":true}`, `{"path":"."}`,
	} {
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, input string) {
		base, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		home, outside := filepath.Join(base, "home"), filepath.Join(base, "outside")
		for _, d := range []string{filepath.Join(home, "dir"), outside} {
			if err := os.MkdirAll(d, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		secret := filepath.Join(outside, "secret")
		for _, n := range []string{filepath.Join(home, "a.txt"), filepath.Join(home, "dir", "b.txt"), secret} {
			if err := os.WriteFile(n, []byte("hello\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, filepath.Join(home, "link")); err != nil {
			t.Skip(err)
		}
		r, err := confine.Open(policy.Place{Dir: home, Mounts: []policy.Mount{{Path: home, Write: true}}})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for _, x := range files.Tools(r, &files.Seen{}, policy.Permissions{}) {
			res, err := x.Run(context.Background(), json.RawMessage(input))
			if err != nil {
				t.Errorf("%s ends the turn: %v", x.Name(), err)
			}
			if len(res.Text) > tool.MaxText {
				t.Errorf("%s returns %d bytes", x.Name(), len(res.Text))
			}
			if a, ok := x.(tool.Actor); ok {
				_ = a.Action(json.RawMessage(input)).Describe()
			}
		}
		if p, err := os.ReadFile(secret); err != nil || string(p) != "hello\n" {
			t.Errorf("a file outside became %q: %v", p, err)
		}
		if all, err := os.ReadDir(outside); err != nil || len(all) != 1 {
			t.Errorf("there are %d files outside: %v", len(all), err)
		}
	})
}
