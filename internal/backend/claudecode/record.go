package claudecode

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// loggedIn: the program is used as its user has logged it in.
func (a *agent) loggedIn() bool { return a.key == "" && a.program.BaseURL == "" }

// login is where the program finds that its user has logged in. On a Mac that is
// in the keychain, under a name that a folder given to it would change.
func login() []string {
	if runtime.GOOS == "darwin" && os.Getenv("CLAUDE_CONFIG_DIR") == "" {
		if home, err := os.UserHomeDir(); err == nil {
			return []string{"HOME=" + home}
		}
	}
	return []string{"CLAUDE_CONFIG_DIR=" + usersFolder()}
}

// usersFolder is where the program has the settings of whoever runs this.
func usersFolder() string {
	home, _ := os.UserHomeDir()
	return cmp.Or(os.Getenv("CLAUDE_CONFIG_DIR"), filepath.Join(home, ".claude"))
}

// recall compares what is remembered of a conversation with the program's own record
// of it, before a process goes on with it. The program writes that record a little
// later than it speaks: one that was killed may have lost what it heard last, and
// even what it said before.
func (a *agent) recall(room backend.Room, t cli.Thread) (cli.Thread, error) {
	if t.Native == "" {
		return t, nil
	}
	folder := filepath.Join(room.Home(), ".claude")
	if a.loggedIn() {
		folder = usersFolder()
	}
	names, err := filepath.Glob(filepath.Join(folder, "projects", "*", t.Native+".jsonl"))
	if err != nil || len(names) == 0 {
		return cli.Thread{}, nil
	}
	record, err := os.ReadFile(names[0])
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Thread{}, nil
	}
	if err != nil {
		return t, &backend.Error{Kind: backend.Broken, Message: "read what Claude Code remembers of the conversation", Err: err}
	}
	has := func(mark string) bool { return bytes.Contains(record, []byte(`"uuid":"`+mark+`"`)) }
	switch {
	case has(t.Heard):
		return t, nil
	case t.Said == "" || has(t.Said):
		return t.Untold(), nil
	}
	return cli.Thread{}, nil
}
