package files

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/policy"
	"conclave/internal/tool"
	"conclave/internal/tool/tooltest"
)

func TestSeam(t *testing.T) {
	tooltest.Run(t, func(t *testing.T) []tool.Tool {
		d := newDesk(t)
		return Tools(d.root, d.seen, policy.Permissions{})
	})
}

func TestRead(t *testing.T) {
	d := newDesk(t)
	d.put("ws/bom.txt", bom+"é\r\nb\r\n")
	d.put("ws/empty", "")
	d.put("ws/long", strings.Repeat("x", 5000)+"\nshort")
	d.put("ws/many", strings.Repeat("line\n", 3000))
	d.put("ws/bin", "ab\x00cd")
	d.put("ws/zip", "PK\x03\x04\x00\x00")
	d.put("ws/doc.pdf", "%PDF-1.7\n")
	d.put("ws/pic.png", "\x89PNG\r\n\x1a\n\x00\x00")
	for _, c := range []struct {
		want string
		in   []any
	}{
		{"     1\tone\n     2\ttwo\n     3\tthree\n", []any{"path", "a.txt"}},
		{"     2\ttwo\n[The file goes on. Read on with offset 3.]\n", []any{"path", "a.txt", "offset", 2, "limit", 1}},
		{"     1\té\n     2\tb\n", []any{"path", "bom.txt"}},
		{"empty is empty.", []any{"path", "empty"}},
		{"     1\t" + strings.Repeat("x", 2000) + " [3000 bytes more]\n     2\tshort\n", []any{"path", "long"}},
		{"     1\tread only\n", []any{"path", d.path("ro/r.txt")}},
	} {
		if got := d.call("read", c.in...); got.Text != c.want || got.Error {
			t.Errorf("%v: %q, want %q", c.in, got.Text, c.want)
		}
	}
	d.ok("Read on with offset 2001", "read", "path", "many")
	d.bad("a.txt has only 3 lines", "read", "path", "a.txt", "offset", 9)
	d.bad("There is no gone.txt. Use list or glob", "read", "path", "gone.txt")
	d.bad("is a folder", "read", "path", ".")
	d.bad("not among the places", "read", "path", "/etc/passwd")
	d.bad("binary data", "read", "path", "bin")
	d.bad("binary data (application/zip)", "read", "path", "zip")
	d.bad("application/pdf", "read", "path", "doc.pdf")
	res := d.call("read", "path", "pic.png")
	if len(res.Images) != 1 || res.Images[0].Type != "image/png" || len(res.Images[0].Data) != 10 {
		t.Errorf("%+v", res)
	}
}

// Whatever the size of a file, little of it is held.
func TestReadHoldsLittle(t *testing.T) {
	d := newDesk(t)
	f, err := os.Create(d.path("ws/big"))
	if err != nil {
		t.Fatal(err)
	}
	block := strings.Repeat("x", 1<<20)
	for range 64 {
		if _, err := f.WriteString(block); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := f.WriteString("\nend"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d.ok("     2\tend\n", "read", "path", "big", "offset", 2)
	d.bad("too large to be taken whole", "edit", "path", "big", "old_text", "x", "new_text", "y")
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 48<<20 { // the edit reads 8 MiB before it knows
		t.Errorf("%d bytes were taken in the course of it", got)
	}
}

func TestWrite(t *testing.T) {
	d := newDesk(t)
	d.ok("Made new/b.txt: 2 lines, 8 bytes.", "write", "path", "new/b.txt", "content", "one\ntwo\n")
	d.ok("Replaced a.txt: 1 line, 1 byte.", "write", "path", "a.txt", "content", "x")
	d.ok("Made empty: 0 lines, 0 bytes.", "write", "path", "empty", "content", "")
	d.bad(`"content" is missing`, "write", "path", "a.txt")
	d.bad("read-only", "write", "path", d.path("ro/r.txt"), "content", "x")
	d.bad("protected", "write", "path", ".git/hooks/x", "content", "x")
	d.holds("ws/new/b.txt", "one\ntwo\n")
	d.holds("ws/a.txt", "x")
	d.holds("ro/r.txt", "read only\n")
}

func TestEdit(t *testing.T) {
	d := newDesk(t)
	d.put("ws/dos.txt", bom+"one\r\ntwo\r\nthree\r\n")
	d.put("ws/mixed.txt", "one\r\ntwo\nthree\n")
	d.put("ws/twice.txt", "aa\nb\naa\n")
	d.put("ws/code.go", "func f() {\n\treturn\n}\n")
	d.put("ws/bin", "a\x00b")

	d.ok("Replaced 1 place in a.txt, on line 2.", "edit", "path", "a.txt", "old_text", "two", "new_text", "2")
	d.holds("ws/a.txt", "one\n2\nthree\n")
	d.ok("on line 1", "edit", "path", "dos.txt", "old_text", "one\ntwo", "new_text", "1\n2")
	d.ok("on line 3", "edit", "path", "dos.txt", "old_text", "three", "new_text", "3\n4")
	d.holds("ws/dos.txt", bom+"1\r\n2\r\n3\r\n4\r\n")
	d.ok("on line 2", "edit", "path", "mixed.txt", "old_text", "two\nthree", "new_text", "2\n3")
	d.holds("ws/mixed.txt", "one\r\n2\n3\n")
	d.bad("occurs 2 times in twice.txt, on the lines 1, 3", "edit", "path", "twice.txt", "old_text", "aa", "new_text", "c")
	d.ok("Replaced 2 places", "edit", "path", "twice.txt", "old_text", "aa", "new_text", "", "replace_all", true)
	d.holds("ws/twice.txt", "\nb\n\n")
	d.bad("does not contain old_text. Read the file", "edit", "path", "a.txt", "old_text", "nine", "new_text", "9")
	d.bad("Line 2 is like its first line but for white space", "edit", "path", "code.go", "old_text", "    return", "new_text", "x")
	d.bad("nothing would change", "edit", "path", "a.txt", "old_text", "one", "new_text", "one")
	d.bad("old_text is empty", "edit", "path", "a.txt", "old_text", "", "new_text", "one")
	d.bad("binary data", "edit", "path", "bin", "old_text", "a", "new_text", "one")
	d.bad("read-only", "edit", "path", d.path("ro/r.txt"), "old_text", "read", "new_text", "x")
}

func TestListAndGlob(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"src/main.go", "src/deep/x.go", "src/deep/x_test.go", "node_modules/m.go", ".git/config", "new\nline.go"} {
		d.put("ws/"+name, "12345")
	}
	if err := os.Symlink("src", d.path("ws/link")); err != nil {
		t.Fatal(err)
	}
	want := ".git/\na.txt (14 bytes)\nlink (symbolic link)\n\"new\\nline.go (5 bytes)\"\nnode_modules/\nsrc/\n"
	if diff := cmp.Diff(want, d.call("list").Text); diff != "" {
		t.Error(diff)
	}
	d.ok("main.go (5 bytes)", "list", "path", "link")
	d.ok("[and 5 more entries; 6 in all]", "list", "limit", 1)
	d.bad("not a folder", "list", "path", "a.txt")
	for pattern, want := range map[string]string{
		"**/*.go":                  "\"new\\nline.go\"\nsrc/deep/x.go\nsrc/deep/x_test.go\nsrc/main.go\n",
		"src/*.go":                 "src/main.go\n",
		"./src/**/*_test.{go,py}":  "src/deep/x_test.go\n",
		"node_modules/**":          "node_modules/m.go\n",
		d.path("ws/src/deep/x.go"): "src/deep/x.go\n",
		d.path("ro") + "/**":       d.path("ro/r.txt") + "\n",
		"*.rs":                     "No file matches *.rs in ..",
	} {
		if got := d.call("glob", "pattern", pattern); got.Text != want || got.Error {
			t.Errorf("%s: %q, want %q", pattern, got.Text, want)
		}
	}
	d.ok("src/deep/x.go", "glob", "pattern", "x.go", "path", "src/deep")
	d.bad("is not one", "glob", "pattern", "[")
	d.bad("leaves the folder", "glob", "pattern", "../**")
	d.bad("not among", "glob", "pattern", "/etc/*")
}

// A hundred thousand files make a short answer that says how many there are.
func TestManyFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 100,000 files")
	}
	d := newDesk(t)
	d.put("ws/many/0", "")
	for i := range 100_000 - 1 {
		f, err := os.Create(d.path(fmt.Sprintf("ws/many/%06d.txt", i)))
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	for _, res := range []tool.Result{d.call("list", "path", "many"), d.call("glob", "pattern", "**")} {
		if res.Error || len(res.Text) > 64<<10 || !strings.Contains(res.Text, "000001.txt") || strings.Contains(res.Text, "099998.txt") {
			t.Errorf("%d bytes: %.200s", len(res.Text), res.Text)
		}
	}
	d.ok("[and 99500 more entries; 100000 in all]", "list", "path", "many")
	d.bad("neither read nor made 100000 files in many, for example many/0, many/000000.txt, many/000001.txt.", "delete", "path", "many", "recursive", true)
}

func TestMoveAndCopy(t *testing.T) {
	d := newDesk(t)
	d.put("ws/dir/x/1.txt", "1")
	d.put("ws/dir/2.txt", "2")
	if err := os.Symlink("2.txt", d.path("ws/dir/link")); err != nil {
		t.Fatal(err)
	}
	d.ok("Moved a.txt to sub/b.txt.", "move", "from", "a.txt", "to", "sub/b.txt")
	d.holds("ws/sub/b.txt", "one\ntwo\nthree\n")
	d.bad("There is no a.txt", "move", "from", "a.txt", "to", "c.txt")
	d.bad("already something at dir/2.txt", "move", "from", "sub/b.txt", "to", "dir/2.txt")
	d.bad("already something at dir/2.txt", "copy", "from", "sub/b.txt", "to", "dir/2.txt")
	d.bad("is a folder", "move", "from", "sub/b.txt", "to", "dir", "overwrite", true)
	d.ok("Copied dir with 2 files to other. 1 link or special file", "copy", "from", "dir", "to", "other")
	d.bad("copy itself", "copy", "from", "dir", "to", "dir/in")
	d.bad("already something at other", "copy", "from", "dir", "to", "other")
	d.ok("Copied", "copy", "from", "dir", "to", "other", "overwrite", true)
	d.holds("ws/other/x/1.txt", "1")
	d.ok("Copied", "copy", "from", d.path("ro/r.txt"), "to", "r.txt")
	d.bad("There is no gone", "copy", "from", "gone", "to", "x")
	d.bad("read-only", "move", "from", d.path("ro/r.txt"), "to", "r2.txt")
	d.bad("read-only", "copy", "from", "r.txt", "to", d.path("ro/x.txt"))
	d.ok("Moved", "move", "from", "r.txt", "to", "dir/2.txt", "overwrite", true)
	d.holds("ws/dir/2.txt", "read only\n")
	d.ok("is there", "make_dir", "path", "p/q/r")
	d.ok("is there", "make_dir", "path", "p/q")
	d.bad("not a folder", "make_dir", "path", "dir/2.txt")
}

// What was neither read nor made by the agent is not deleted.
func TestDelete(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{"dir/1", "dir/2", "dir/3", "dir/4", "dir/sub/5"} {
		d.put("ws/"+name, name)
	}
	if err := os.Symlink("dir/1", d.path("ws/link")); err != nil {
		t.Fatal(err)
	}
	d.bad("You have neither read nor made a.txt. Read it first", "delete", "path", "a.txt")
	d.ok("one", "search", "pattern", "one")
	d.bad("neither read", "delete", "path", "a.txt")
	d.call("read", "path", "a.txt")
	d.ok("Deleted a.txt.", "delete", "path", "a.txt")
	d.put("ws/a.txt", "another")
	d.bad("neither read", "delete", "path", "a.txt")

	d.bad("not empty. Set recursive", "delete", "path", "dir")
	d.bad("neither read nor made 5 files in dir, for example dir/1, dir/2, dir/3.", "delete", "path", "dir", "recursive", true)
	for _, name := range []string{"link", "dir/2", "dir/3", "dir/4"} {
		d.call("read", "path", name)
	}
	d.bad("neither read nor made 1 file in dir, for example dir/sub/5.", "delete", "path", "dir", "recursive", true)
	d.call("write", "path", "dir/sub/5", "content", "mine")
	d.ok("Moved", "move", "from", "dir", "to", "moved")
	d.ok("Deleted the folder moved with 5 files.", "delete", "path", "moved", "recursive", true)
	d.ok("Deleted link", "delete", "path", "link")
	d.call("make_dir", "path", "empty")
	d.ok("Deleted the folder empty with 0 files", "delete", "path", "empty")
	d.bad("places you were given", "delete", "path", ".", "recursive", true)
	d.bad("There is no gone", "delete", "path", "gone")
	if got := d.seen.Paths(); len(got) != 0 {
		t.Errorf("what is gone is still known: %v", got)
	}
}

func TestActions(t *testing.T) {
	d := newDesk(t)
	if err := os.Symlink("a.txt", d.path("ws/link")); err != nil {
		t.Fatal(err)
	}
	tools := map[string]tool.Tool{}
	for _, x := range d.tools() {
		tools[x.Name()] = x
	}
	at := func(k policy.Kind, name string) policy.Action {
		return policy.Action{Kind: k, Target: d.path(name), Dir: d.path("ws")}
	}
	for _, c := range []struct {
		name, input string
		want        policy.Action
		also        []policy.Action
	}{
		{"read", `{"path":"link"}`, at(policy.Read, "ws/a.txt"), nil},
		{"list", `{}`, at(policy.Read, "ws"), nil},
		{"write", `{"path":"x/../b.txt","content":""}`, at(policy.Write, "ws/b.txt"), nil},
		{"delete", `{"path":"link"}`, at(policy.Delete, "ws/link"), nil},
		{"move", `{"from":"link","to":"b"}`, at(policy.Delete, "ws/link"), []policy.Action{at(policy.Read, "ws/link"), at(policy.Write, "ws/b")}},
		{"copy", `{"from":"link","to":"b"}`, at(policy.Write, "ws/b"), []policy.Action{at(policy.Read, "ws/a.txt")}},
		{"read", `{"path":"/etc/passwd"}`, policy.Action{Kind: policy.Read, Target: "/etc/passwd", Dir: d.path("ws")}, nil},
	} {
		c.want.Tool, c.want.Input, c.want.Also = c.name, c.input, c.also
		if diff := cmp.Diff(c.want, tools[c.name].(tool.Actor).Action(json.RawMessage(c.input))); diff != "" {
			t.Error(c.name, diff)
		}
	}
	for name, want := range map[string]tool.Tier{"read": tool.Read, "list": tool.Read, "glob": tool.Read, "search": tool.Read, "write": tool.Write, "delete": tool.Write, "copy": tool.Write} {
		if got := tools[name].Tier(); got != want {
			t.Errorf("%s has tier %d", name, got)
		}
	}
}
