package files

import (
	"context"
	"fmt"
	"strings"

	"conclave/internal/tool"
)

type editIn struct {
	Path string `json:"path" jsonschema_description:"The file to change."`
	Old  string `json:"old_text" jsonschema_description:"The text to be replaced, exactly as it is in the file."`
	New  string `json:"new_text" jsonschema_description:"What to put in its place; empty to delete it."`
	All  bool   `json:"replace_all,omitempty" jsonschema_description:"Replace every occurrence. Without it there must be exactly one."`
}

func (in editIn) aim() string { return in.Path }

// editMax is the size of a file that is edited as a whole.
const editMax = 8 << 20

func (k *kit) edit(_ context.Context, in editIn) (tool.Result, error) {
	switch {
	case in.Old == "":
		return mistaken("The field old_text is empty. Give the text to be replaced; to make a new file use write.")
	case in.Old == in.New:
		return mistaken("The fields old_text and new_text are the same: nothing would change.")
	}
	data, err := k.root.ReadFile(in.Path, editMax)
	if err != nil {
		return tool.Result{}, err
	}
	if typ := kindOf(data[:min(len(data), sniffed)]); typ != "" {
		return mistaken("%s is not text but %s. It cannot be edited.", k.show(in.Path), typ)
	}
	mark, text := "", string(data)
	if rest, ok := strings.CutPrefix(text, bom); ok {
		mark, text = bom, rest
	}
	older, newer := lineEnds(text, in.Old), lineEnds(text, in.New)
	n := strings.Count(text, older)
	switch {
	case n == 0:
		return mistaken("%s does not contain old_text. %s", k.show(in.Path), near(text, in.Old))
	case n > 1 && !in.All:
		return mistaken("The old_text occurs %d times in %s, on the lines %s. Give more of the text around the one you mean, or set replace_all.", n, k.show(in.Path), where(text, older))
	}
	at := where(text, older)
	text = strings.ReplaceAll(text, older, newer)
	if err := k.root.WriteFile(in.Path, []byte(mark+text)); err != nil {
		return tool.Result{}, err
	}
	k.seen.Add(k.target(in.Path))
	return said("Replaced %s in %s, on line %s.", count(n, "place", "places"), k.show(in.Path), at)
}

// lineEnds is what a model wrote with the line ends of the file: if all of them
// are CRLF, so are its own.
func lineEnds(text, s string) string {
	crlf := strings.Count(text, "\r\n")
	if crlf == 0 || crlf != strings.Count(text, "\n") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

// where are the lines on which s begins; the first few of many.
func where(text, s string) string {
	const most = 5
	var out []string
	line, rest := 1, text
	for {
		i := strings.Index(rest, s)
		if i < 0 {
			return strings.Join(out, ", ")
		}
		if len(out) == most {
			return strings.Join(out, ", ") + " and more"
		}
		line += strings.Count(rest[:i], "\n")
		out = append(out, fmt.Sprint(line))
		line += strings.Count(s, "\n")
		rest = rest[i+len(s):]
	}
}

// near helps to find what was meant: a line that differs in white space alone.
func near(text, s string) string {
	want := ""
	for line := range strings.Lines(s) {
		if want = squeezed(line); want != "" {
			break
		}
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if got := squeezed(line); want != "" && got == want {
			return fmt.Sprintf("Line %d is like its first line but for white space or what follows; read the file there and give the text as it is.", n)
		}
	}
	return "Read the file and give the text as it is, without line numbers."
}

// squeezed is a line with single spaces.
func squeezed(line string) string { return strings.Join(strings.Fields(line), " ") }
