package codex

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"conclave/internal/backend/cli"
	"conclave/internal/backend/rpc"
)

// open goes on with the native thread, or begins one, and gives what to say in it.
func (t *turn) open(ctx context.Context) (cli.Say, error) {
	saved, err := cli.Load(t.in.Room.Home(), t.in.Thread)
	if err != nil {
		return cli.Say{}, err
	}
	shape := t.shape()
	id, was, _ := strings.Cut(saved.Native, "#")
	if was != shape {
		saved = cli.Thread{}
	}
	if saved.Native != "" && !t.server.loaded[id] {
		refused := (*rpc.Error)(nil)
		switch err := t.call(ctx, "thread/resume", t.params(id), &threadResult{}); {
		case errors.As(err, &refused): // it has forgotten
			saved = cli.Thread{}
		case err != nil:
			return cli.Say{}, err
		}
	}
	say, next := saved.Next(t.in.Messages)
	if saved.Native != "" && say.Text != next.Told { // it was told some of it, we believe
		if saved, err = t.recall(ctx, id, saved); err != nil {
			return cli.Say{}, err
		}
		say, next = saved.Next(t.in.Messages)
	}
	if saved.Native == "" {
		var begun threadResult
		if err := t.call(ctx, "thread/start", t.params(""), &begun); err != nil {
			return cli.Say{}, err
		}
		id = begun.Thread.ID
	}
	t.thread, t.kept = id, next
	t.kept.Native, t.kept.Heard = id+"#"+shape, newMark()
	t.server.loaded[id] = true
	return say, t.save()
}

// remember keeps, before it is said, that Codex is told news.
func (t *turn) remember(n cli.News) error {
	t.kept.News = append(t.kept.News, n)
	return t.save()
}

func (t *turn) save() error { return t.kept.Save(t.in.Room.Home(), t.in.Thread) }

// recall compares what is remembered of a conversation with Codex's own record of it.
// What was told may not have been taken in: this process, or Codex, died before, or
// the turn was interrupted.
func (t *turn) recall(ctx context.Context, id string, saved cli.Thread) (cli.Thread, error) {
	r, err := t.record(ctx, id)
	if err != nil || r == nil || saved.Heard == "" {
		return saved, err // if nobody can say, what was told counts as heard
	}
	if !r.said[saved.Heard] {
		saved = saved.Untold()
	}
	saved.News = slices.DeleteFunc(slices.Clone(saved.News), func(n cli.News) bool { return !r.has(n) })
	return saved, nil
}

// A record is what Codex has of a conversation: what its user said, by our marks, and
// what came of calls of our tools, by their IDs.
type record struct {
	said    map[string]bool
	results map[string]string
}

// has reports whether the model will find news in the conversation.
func (r *record) has(n cli.News) bool {
	return r.said[n.Mark] || strings.Contains(r.results[n.Mark], n.Text)
}

// lately is how many of Codex's turns are looked at, which is more than a turn of ours
// is made of.
const lately = 100

// record reads the end of a conversation; nil if Codex does not tell.
func (t *turn) record(ctx context.Context, id string) (*record, error) {
	var turns turnsResult
	err := t.call(ctx, "thread/turns/list", turnsParams{Thread: id, Limit: lately, Sort: "desc", Items: "full"}, &turns)
	if _, refused := err.(*rpc.Error); refused {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &record{said: map[string]bool{}, results: map[string]string{}}
	for _, turn := range turns.Data {
		for _, i := range turn.Items {
			switch i.Type {
			case "userMessage":
				r.said[i.ClientID] = true
			case "dynamicToolCall":
				r.results[i.ID] = i.content()
			}
		}
	}
	// A result is reported a little before it is part of the conversation, and one
	// that was only reported the model does not find. What it finds is in the file.
	if written := t.results(id); written != nil {
		r.results = written
	}
	return r, nil
}

// content is what one of our tools returned, in words.
func (i item) content() string {
	var all []string
	for _, c := range i.Content {
		all = append(all, c.Text)
	}
	return strings.Join(all, "\n")
}

// maxRecord bounds the file.
const maxRecord = 1 << 30

// results are what came of calls, by their IDs, as Codex has written it down for its
// model; nil if that cannot be read.
func (t *turn) results(id string) map[string]string {
	root, err := os.OpenRoot(t.in.Room.Home())
	if err != nil {
		return nil
	}
	defer root.Close()
	names, _ := fs.Glob(root.FS(), folder+"/sessions/*/*/*/rollout-*"+id+".jsonl")
	if len(names) != 1 {
		return nil
	}
	file, err := cli.ReadIn(root, names[0], maxRecord)
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for line := range bytes.Lines(file) {
		if !bytes.Contains(line, []byte(`"function_call_output"`)) {
			continue
		}
		var l struct {
			Payload struct {
				Type   string          `json:"type"`
				Call   string          `json:"call_id"`
				Output json.RawMessage `json:"output"`
			} `json:"payload"`
		}
		if json.Unmarshal(line, &l) == nil && l.Payload.Type == "function_call_output" {
			out[l.Payload.Call] = output(l.Payload.Output)
		}
	}
	return out
}

// output is the text of a result, which is one or a list of parts.
func output(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []contentItem
	_ = json.Unmarshal(raw, &parts) // else there is no text
	return item{Content: parts}.content()
}

// newMark is a name for something said, by which it is found in Codex's record.
func newMark() string { return "conclave-" + rand.Text() }

// params are those of the native thread with this ID, or of a new one.
func (t *turn) params(id string) threadParams {
	room := t.in.Room
	p := threadParams{ID: id, NoTurns: id != "", Dir: room.Dir(), Approval: "untrusted", Sandbox: "danger-full-access"}
	if room.ReadOnly() && !room.Boxed() {
		// What is approved runs outside Codex's sandbox, so it is asked only for
		// what does not fit into it.
		p.Approval, p.Sandbox = "on-request", "read-only"
	}
	if id == "" {
		p.Instructions, p.Tools, p.Ephemeral = t.in.System, functions(t.in.Tools), t.in.Thread == ""
	}
	return p
}

// shape stands for what a native thread cannot change.
func (t *turn) shape() string {
	p, _ := json.Marshal([]any{t.in.System, t.in.Tools}) // strings and valid JSON
	sum := sha256.Sum256(p)
	return hex.EncodeToString(sum[:8])
}
