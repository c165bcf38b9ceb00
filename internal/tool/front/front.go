// Package front reads and writes texts with front matter: a few lines of YAML
// between two lines of three dashes, and then the text itself. Notes and skills
// are such files, and people write them too, so what is wrong with one is said
// in a sentence and nothing in it can take the program down.
package front

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

const fence = "---"

// maxHead bounds front matter; a parser's work is not linear in it.
const maxHead = 16 << 10

// Read puts the front matter of src into head, a struct with yaml tags, and
// returns what comes after it. Keys that head does not have are passed over.
func Read(src []byte, head any) (body string, err error) {
	text := strings.TrimPrefix(strings.ReplaceAll(string(src), "\r\n", "\n"), "\uFEFF")
	rest, ok := strings.CutPrefix(text, fence+"\n")
	if !ok {
		return "", errors.New("it does not begin with front matter, which begins with a line of three dashes")
	}
	matter, body, ok := strings.Cut("\n"+rest, "\n"+fence+"\n")
	if !ok {
		if matter, ok = strings.CutSuffix("\n"+rest, "\n"+fence); !ok {
			return "", errors.New("its front matter has no end, which is a line of three dashes")
		}
		body = ""
	}
	if len(matter) > maxHead {
		return "", fmt.Errorf("its front matter has %d bytes; %d is the most", len(matter), maxHead)
	}
	if err := decode(matter, head); err != nil {
		return "", fmt.Errorf("its front matter is no YAML we can read: %s", oneLine(err))
	}
	return strings.TrimLeft(body, "\n"), nil
}

func decode(matter string, head any) (err error) {
	defer func() {
		if v := recover(); v != nil { // the parser's, on text it did not expect
			err = fmt.Errorf("%v", v)
		}
	}()
	return yaml.Unmarshal([]byte(matter), head)
}

// oneLine is an error without the excerpt the parser draws below it.
func oneLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Write is a text with front matter.
func Write(head any, body string) ([]byte, error) {
	matter, err := yaml.Marshal(head)
	if err != nil {
		return nil, fmt.Errorf("write front matter: %w", err)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s\n%s%s\n\n%s\n", fence, matter, fence, strings.TrimRight(body, "\n"))
	return out.Bytes(), nil
}
