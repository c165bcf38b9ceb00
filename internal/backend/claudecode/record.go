package claudecode

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

// folder is the program's own in the home of its room.
const folder = ".claude"

// loggedIn: the program is used as its user has logged it in.
func (a *agent) loggedIn() bool { return a.key == "" && a.program.BaseURL == "" }

// Login is the file that holds the user's own login. A room in which it is used has
// to reach it, writable: the program renews it.
func Login() string { return filepath.Join(usersFolder(), ".credentials.json") }

// keychain: the login is in the keychain of a Mac, under a name that a folder given
// to the program would change.
func keychain() bool { return runtime.GOOS == "darwin" && os.Getenv("CLAUDE_CONFIG_DIR") == "" }

// login leads from the program's own folder to the login of its user, if there is
// one. The user's folder itself is out of its reach: settings in it name commands
// that are run wherever the user starts the program.
func login(room backend.Room) ([]string, error) {
	if home, err := os.UserHomeDir(); keychain() && err == nil {
		return []string{"HOME=" + home}, nil
	}
	env := []string{"CLAUDE_CONFIG_DIR=" + filepath.Join(room.Home(), folder)}
	if _, err := os.Stat(Login()); err != nil {
		return env, nil // the program says that nobody is logged in
	}
	if err := cli.Lead(room.Home(), filepath.Join(folder, ".credentials.json"), Login()); err != nil {
		return nil, &backend.Error{Kind: backend.Broken, Message: "lead Claude Code to its login", Err: err}
	}
	return env, nil
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
	record, err := a.record(room, t.Native)
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Thread{}, nil
	}
	if err != nil {
		return t, &backend.Error{Kind: backend.Broken, Message: "read what Claude Code remembers of the conversation", Err: err}
	}
	has := func(mark string) bool { return bytes.Contains(record, []byte(`"uuid":"`+mark+`"`)) }
	switch {
	case has(t.Heard):
	case t.Said == "" || has(t.Said):
		t = t.Untold()
	default:
		return cli.Thread{}, nil
	}
	t.News = slices.DeleteFunc(slices.Clone(t.News), func(n cli.News) bool {
		// What is taken in while a tool runs is written down beside its result.
		return !has(n.Mark) && !bytes.Contains(record, []byte(`"source_uuid":"`+n.Mark+`"`)) && !bytes.Contains(record, []byte(`"tool_use_id":"`+n.Mark+`"`))
	})
	return t, nil
}

// maxRecord bounds a record; the program itself does not take up one that comes
// near it.
const maxRecord = 1 << 30

// record is the program's own record of a conversation.
func (a *agent) record(room backend.Room, native string) ([]byte, error) {
	in, projects := room.Home(), folder+"/projects"
	if a.loggedIn() && keychain() {
		in, projects = usersFolder(), "projects"
	}
	root, err := os.OpenRoot(in)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := fs.Glob(root.FS(), projects+"/*/"+native+".jsonl")
	if err != nil || len(names) == 0 {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	return cli.ReadIn(root, names[0], maxRecord)
}
