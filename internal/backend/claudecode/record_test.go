package claudecode

import (
	"os"
	"path/filepath"
	"testing"
)

// A lodging is a room of which only the home is looked at.
type lodging struct {
	cell
	home string
}

func (l lodging) Home() string { return l.home }

// A program that makes its folder lead to its user's does not have us break the
// user's login.
func TestLoginIsNotTouched(t *testing.T) {
	users := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", users)
	name := filepath.Join(users, ".credentials.json")
	if err := os.WriteFile(name, []byte("login"), 0o600); err != nil {
		t.Fatal(err)
	}
	room := lodging{home: t.TempDir()}
	for range 2 {
		if _, err := login(room); err != nil {
			t.Fatal(err)
		}
		if at, _ := os.Readlink(filepath.Join(room.home, folder, ".credentials.json")); at != name {
			t.Errorf("it is led to %q", at)
		}
	}
	room.home = t.TempDir()
	if err := os.Symlink(users, filepath.Join(room.home, folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := login(room); err == nil {
		t.Error("a folder that leads elsewhere is used")
	}
	if got, err := os.ReadFile(name); string(got) != "login" {
		t.Errorf("the user's login is now %q (%v)", got, err)
	}
}
