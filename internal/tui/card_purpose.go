package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"

	"conclave/internal/tui/theme"
)

// A purpose is what a tool is for, as far as it shows.
type purpose struct {
	mark  string // one cell
	style func(*theme.Theme) lipgloss.Style
	// one and many say what calls came to: "read a file", "read %d files".
	one, many string
	// keys are the arguments that tell most, the first there is; path says that
	// the end of it tells more than its beginning.
	keys []string
	path bool
}

func asTool(t *theme.Theme) lipgloss.Style    { return t.Tool }
func asLink(t *theme.Theme) lipgloss.Style    { return t.Link }
func asAdded(t *theme.Theme) lipgloss.Style   { return t.Added }
func asQuote(t *theme.Theme) lipgloss.Style   { return t.Quote }
func asHeading(t *theme.Theme) lipgloss.Style { return t.Heading }

var (
	forReading   = purpose{"≡", asTool, "read a file", "read %d files", []string{"path"}, true}
	forListing   = purpose{"≡", asTool, "listed a folder", "listed %d folders", []string{"path"}, true}
	forSearching = purpose{"⌕", asTool, "searched once", "searched %d times", []string{"pattern"}, false}
	forWriting   = purpose{"✎", asAdded, "wrote a file", "wrote %d files", []string{"path", "to"}, true}
	forMoving    = purpose{"✎", asAdded, "moved or copied once", "moved or copied %d times", []string{"to"}, true}
	forDeleting  = purpose{"✎", bad, "deleted once", "deleted %d times", []string{"path"}, true}
	forRunning   = purpose{"$", warn, "ran a command", "ran %d commands", []string{"command"}, false}
	forJobs      = purpose{"$", warn, "looked after a command", "looked after commands %d times", []string{"id"}, false}
	forWeb       = purpose{"@", asLink, "looked at the web", "looked at the web %d times", []string{"query", "url"}, false}
	forCode      = purpose{"$", warn, "ran code", "ran code %d times", []string{"code"}, false}
	forPlanning  = purpose{"☐", accent, "worked on its plan", "worked on its plan %d times", []string{"id", "status"}, false}
	forMemory    = purpose{"◇", asQuote, "used its memory", "used its memory %d times", []string{"name"}, false}
	forSkills    = purpose{"◇", asQuote, "read a skill", "read %d skills", []string{"name", "file"}, false}
	forServers   = purpose{"⧉", asHeading, "asked a server", "asked servers %d times", nil, false}
	forOther     = purpose{"▪", asTool, "used another tool", "used other tools %d times", nil, false}
)

// purposes are those of the tools there are, and of what providers do by
// themselves, by their exact names.
var purposes = map[string]purpose{
	"read": forReading, "list": forListing, "glob": forSearching, "search": forSearching,
	"write": forWriting, "edit": forWriting, "make_dir": forWriting, "move": forMoving, "copy": forMoving, "delete": forDeleting,
	"shell": forRunning, "shell_start": forRunning, "shell_output": forJobs, "shell_list": forJobs, "shell_stop": forJobs,
	"web_search": forWeb, "web_fetch": forWeb, "google_search": forWeb, "url_context": forWeb,
	"code_execution": forCode, "code_interpreter": forCode,
	"plan_create": forPlanning, "plan_add": forPlanning, "plan_edit": forPlanning, "plan_update": forPlanning, "plan_list": forPlanning,
	"memory_list": forMemory, "memory_read": forMemory, "memory_write": forMemory, "memory_delete": forMemory,
	"skill": forSkills,
}

// serverTool begins the names of tools of servers: mcp__server__tool.
const serverTool = "mcp__"

func purposeOf(name string) purpose {
	if p, ok := purposes[name]; ok {
		return p
	}
	if strings.HasPrefix(name, serverTool) {
		return forServers
	}
	return forOther
}

// toolName is a tool as people read it: those of servers as server/tool.
func toolName(name string) string {
	if rest, ok := strings.CutPrefix(name, serverTool); ok {
		if server, tool, ok := strings.Cut(rest, "__"); ok {
			return server + "/" + tool
		}
	}
	return name
}

// count is what n calls of one purpose came to.
func (p purpose) count(n int) string {
	if n == 1 {
		return p.one
	}
	return fmt.Sprintf(p.many, n)
}
