package tui

import (
	"container/list"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"conclave/internal/event"
	"conclave/internal/view"
)

// What is kept in memory of the words of a run: short texts stay where they are,
// longer ones are put aside, and of those the ones last looked at are cached.
const (
	shortText = 512
	cacheSize = 8 << 20
)

// aside marks a content whose text is in our own file, and asideInput what a tool
// was called with, of which models could write anything but this.
const (
	aside      = "aside:"
	asideInput = "\x00" + aside
)

// texts gives the words of contents. A transcript of any length takes little
// memory: text beyond shortText goes to a file that nobody else can open and
// that is gone with the process. The log is the truth; this is a cache of it.
//
// Reading is synchronous: both places are on this machine.
type texts struct {
	resolve func(event.Content) (string, error)
	file    *os.File
	end     int64
	volume  int  // which file it is
	named   bool // it still has a name: not everywhere can that be taken from an open file

	cached map[event.Hash]*list.Element
	recent *list.List // of cachedText, newest first
	size   int
}

type cachedText struct {
	hash event.Hash
	text string
}

func newTexts(resolve func(event.Content) (string, error)) *texts {
	return &texts{resolve: resolve, cached: map[event.Hash]*list.Element{}, recent: list.New()}
}

func (t *texts) close() {
	if t.file != nil {
		_ = t.file.Close()
	}
	if t.named {
		_ = os.Remove(t.file.Name())
	}
}

// forget gives up what was put aside: it is of a run that is not shown any more.
func (t *texts) forget() {
	t.close()
	t.file, t.end, t.named = nil, 0, false
	t.volume++
}

// of is what a content says. A text that cannot be read says why.
func (t *texts) of(c event.Content) string {
	if c.Blob == "" || c.Text != "" {
		return c.Text
	}
	if e, ok := t.cached[c.Blob]; ok {
		t.recent.MoveToFront(e)
		return e.Value.(cachedText).text
	}
	s, err := t.read(c)
	if err != nil {
		return fmt.Sprintf("(%d bytes that cannot be read: %v)", c.Size, err)
	}
	t.remember(c.Blob, s)
	return s
}

func (t *texts) read(c event.Content) (string, error) {
	at, ours := strings.CutPrefix(string(c.Blob), aside)
	if !ours {
		return t.resolve(c)
	}
	volume, at, _ := strings.Cut(at, "/")
	offset, err := strconv.ParseInt(at, 10, 64)
	switch {
	case err != nil:
		return "", err
	case volume != strconv.Itoa(t.volume):
		return "", errors.New("the run is not shown any more")
	}
	p := make([]byte, c.Size)
	_, err = t.file.ReadAt(p, offset)
	return string(p), err
}

func (t *texts) remember(h event.Hash, s string) {
	t.cached[h] = t.recent.PushFront(cachedText{h, s})
	t.size += len(s)
	for t.size > cacheSize && t.recent.Len() > 1 {
		old := t.recent.Remove(t.recent.Back()).(cachedText)
		delete(t.cached, old.hash)
		t.size -= len(old.text)
	}
}

// put sets a text aside, unless it is short or cannot be.
func (t *texts) put(c event.Content) event.Content {
	if c.Blob != "" {
		c.Text = ""
		return c
	}
	if len(c.Text) <= shortText || t.open() != nil {
		return c
	}
	n, err := t.file.WriteAt([]byte(c.Text), t.end)
	if err != nil {
		return c
	}
	out := event.Content{Blob: event.Hash(fmt.Sprintf("%s%d/%d", aside, t.volume, t.end)), Size: n}
	t.end += int64(n)
	return out
}

// putInput sets aside what a tool is called with, such as a whole file.
func (t *texts) putInput(c event.ToolCall) event.ToolCall {
	if x := t.put(event.Inline(string(c.Input))); x.Blob != "" {
		c.Input = fmt.Appendf(nil, "%s %d %s", asideInput, x.Size, x.Blob)
	}
	return c
}

// input is what a tool was called with.
func (t *texts) input(u *view.ToolUse) string {
	at, ours := strings.CutPrefix(u.Input, asideInput)
	if !ours {
		return u.Input
	}
	var c event.Content
	if _, err := fmt.Sscan(at, &c.Size, &c.Blob); err != nil {
		return ""
	}
	return t.of(c)
}

// open makes the file, which has no name from then on if that can be.
func (t *texts) open() error {
	if t.file != nil {
		return nil
	}
	f, err := os.CreateTemp("", "conclave-text-*")
	if err != nil {
		return err
	}
	t.file, t.named = f, os.Remove(f.Name()) != nil
	return nil
}

// terse is an event without its long texts. Calls of tools are as they were made:
// whoever shows them in a line, and keeps no more, has to read what they are about.
func (t *texts) terse(e event.Event) event.Event {
	switch b := e.Body.(type) {
	case event.ToolCalled:
		return e
	case event.Called:
		tools := b.Tools
		b.Tools = nil
		e.Body = b
		e = t.thin(e)
		b = e.Body.(event.Called)
		b.Tools = tools
		e.Body = b
		return e
	}
	return t.thin(e)
}

// thin is an event without its long texts and without what is never shown.
func (t *texts) thin(e event.Event) event.Event {
	switch b := e.Body.(type) {
	case event.Called:
		b.Text, b.Thinking, b.Native = t.put(b.Text), t.put(b.Thinking), event.Content{}
		b.Tools = slices.Clone(b.Tools)
		for i, c := range b.Tools {
			b.Tools[i] = t.putInput(c)
		}
		e.Body = b
	case event.ToolCalled:
		b.Tool = t.putInput(b.Tool)
		e.Body = b
	case event.ToolReturned:
		b.Result = t.put(b.Result)
		e.Body = b
	case event.Proposed:
		b.Outcomes = nil // the verdict has it
		e.Body = b
	case event.Answered:
		b.Content = t.put(b.Content)
		e.Body = b
	case event.Presented:
		b.Content = t.put(b.Content)
		e.Body = b
	case event.Compacted:
		b.Summary = t.put(b.Summary)
		e.Body = b
	case event.Finished:
		b.Answer = t.put(b.Answer)
		e.Body = b
	}
	return e
}
