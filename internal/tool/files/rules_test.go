package files

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"conclave/internal/policy"
	"conclave/internal/tool"
)

// A rule about a file holds as well where a call names the folder it is in.
func TestRulesInsideFolders(t *testing.T) {
	d := newDesk(t)
	d.rules = policy.Permissions{Deny: []string{"read_file(.env)", "delete_file(**/migrations/**)", "write_file(*.lock)"}, Ask: []string{"read_file(*.key)"}}
	for name, text := range map[string]string{
		"app/.env": "TOKEN=hush\n", "app/a.key": "TOKEN=hush\n", "app/open.txt": "TOKEN=open\n",
		"db/migrations/1.sql": "create\n", "locks/x.lock": "x\n",
	} {
		d.put("ws/"+name, text)
	}
	d.seen.Add(d.path("ws/db/migrations/1.sql"))

	d.ok("2 files not searched", "search", "pattern", "TOKEN")
	if got := d.call("search", "pattern", "TOKEN").Text; strings.Contains(got, "hush") || !strings.Contains(got, "TOKEN=open") {
		t.Errorf("found %s", got)
	}
	d.ok("2 files were not copied", "copy", "from", "app", "to", "copy")
	d.holds("ws/copy/open.txt", "TOKEN=open\n")
	for _, name := range []string{"ws/copy/.env", "ws/copy/a.key"} {
		if _, err := os.Lstat(d.path(name)); err == nil {
			t.Errorf("%s was copied", name)
		}
	}
	d.bad("read_file(", "move", "from", "app", "to", "app2")
	d.bad("migrations", "move", "from", "db", "to", "db2")
	d.bad("write_file(*.lock)", "move", "from", "locks", "to", "locks2")
	d.bad("migrations", "delete", "path", "db", "recursive", true)
	d.holds("ws/db/migrations/1.sql", "create\n")
	d.ok("Moved", "move", "from", "copy", "to", "copy2")

	// Another name is no way round a rule about reading.
	tools := d.tools()
	move := tools[slices.IndexFunc(tools, func(x tool.Tool) bool { return x.Name() == "move" })]
	a := move.(tool.Actor).Action(json.RawMessage(`{"from":"app/.env","to":"app/env.txt"}`))
	if v := d.rules.Judge(a); v.Decision != policy.Deny {
		t.Errorf("moving what may not be read: %+v", v)
	}
}
