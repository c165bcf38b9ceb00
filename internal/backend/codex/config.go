package codex

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
)

const (
	openaiURL = "https://api.openai.com/v1"
	// provider is what the model's provider is called in Codex's settings, keyVar
	// the variable with what it takes for the key.
	provider = "conclave"
	keyVar   = "CONCLAVE_MODEL_KEY"
	// folder is Codex's home within the room's.
	folder = "codex"
)

// need is the version whose protocol this package speaks.
var need = cli.Need{Program: "codex", Least: cli.Version{Major: 0, Minor: 160}, Install: "npm install -g @openai/codex"}

// CheckVersion refuses what Codex says of its version if it is too old.
func CheckVersion(said string) error { return need.Check(said) }

// settings are Codex's own, in its config.toml. Nothing is sent to anybody but the
// model, nothing is fetched, and tools are off that cannot be asked about (a
// search by the provider) or that get in the way of ours. Settings that lie in the
// workspace are not heeded: whoever wrote them could have commands run unasked.
const settings = `# Written by Conclave at every start.
check_for_update_on_startup = false
web_search = "disabled"
project_root_markers = []
%s
[projects.%s]
trust_level = "untrusted"

[analytics]
enabled = false

[skills.bundled]
enabled = false

[features]
plugins = false
apps = false
goals = false
hooks = false
memories = false
image_generation = false
tool_suggest = false
skill_search = false
unbounded_connection_retries = false
`

// through are the settings that lead to the model by way of the proxy.
const through = `model_provider = "` + provider + `"

[model_providers.` + provider + `]
name = "` + provider + `"
base_url = %s
wire_api = "responses"
env_key = "` + keyVar + `"
request_max_retries = 1
stream_max_retries = 2
`

// furnish writes Codex's home within the room's and gives the environment for it.
func (a *agent) furnish(room backend.Room, proxy *cli.Proxy) (env []string, err error) {
	home := room.Home()
	model := ""
	if a.Model != "" {
		model = "model = " + strconv.Quote(a.Model) + "\n"
	}
	env = []string{"CODEX_HOME=" + filepath.Join(home, folder), "HOME=" + home}
	if proxy != nil {
		model += fmt.Sprintf(through, strconv.Quote(proxy.URL))
		env = append(env, keyVar+"="+proxy.Token)
	} else if err := a.login(home); err != nil {
		return nil, err
	}
	if err := cli.WriteFile(home, filepath.Join(folder, "config.toml"), fmt.Appendf(nil, settings, model, strconv.Quote(room.Dir()))); err != nil {
		return nil, broken("write codex's settings", err)
	}
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	return env, nil
}

// Login is the file that holds the user's own login; empty if there is no home.
// A room in which it is used has to reach it, writable: Codex renews it.
func Login() string {
	dir := os.Getenv("CODEX_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".codex")
	}
	return filepath.Join(dir, "auth.json")
}

// login leads from Codex's home to the user's own login. It is not copied: what
// renews a copy makes the original worthless.
func (a *agent) login(home string) error {
	name := Login()
	if _, err := os.Stat(name); err != nil {
		return &backend.Error{Kind: backend.Auth,
			Message: "codex has neither a key nor a login: " + a.remedy()}
	}
	if err := cli.Lead(home, filepath.Join(folder, "auth.json"), name); err != nil {
		return broken("lead codex to its login", err)
	}
	return nil
}

// remedy is what to do where there is no login.
func (a *agent) remedy() string {
	return "run codex login in a terminal once, or set " + cmp.Or(strings.Join(a.Key.Env, " or "), "OPENAI_API_KEY") + " in the environment"
}

// argv is the command that serves.
func (a *agent) argv() ([]string, error) {
	if len(a.Command) > 0 {
		return append(append([]string{}, a.Command...), "app-server"), nil
	}
	name, err := exec.LookPath("codex")
	if err != nil {
		return nil, &backend.Error{Kind: backend.Invalid, Message: "codex is not installed; " + need.Install, Err: err}
	}
	return []string{Native(name), "app-server"}, nil
}

// Native is the program behind the script that npm puts into the PATH, if it is
// such a script and the program is there. A script that is killed leaves the
// program alone.
func Native(name string) string {
	real, err := filepath.EvalSymlinks(name)
	if err != nil || !strings.HasSuffix(real, ".js") {
		return name
	}
	module := filepath.Dir(filepath.Dir(real)) // …/@openai/codex
	for _, pattern := range []string{"../codex-*/vendor/*/bin/codex", "node_modules/@openai/codex-*/vendor/*/bin/codex", "vendor/*/bin/codex"} {
		if found, _ := filepath.Glob(filepath.Join(module, pattern)); len(found) == 1 {
			return found[0]
		}
	}
	return name
}

// target is where the model is reached, with the real key.
func (a *agent) target() cli.Target {
	base := strings.TrimSuffix(strings.TrimRight(cmp.Or(a.BaseURL, openaiURL), "/"), "/responses")
	return cli.Target{BaseURL: base, Key: a.key, Header: "Authorization"}
}

func broken(what string, err error) error {
	return &backend.Error{Kind: backend.Broken, Message: what, Err: err}
}
