package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html"

	"conclave/internal/config"
	"conclave/internal/embed"
	"conclave/internal/event"
	"conclave/internal/index"
	"conclave/internal/jobdir"
)

const (
	indexFile = "index.db" // in the state directory; a cache
	// docScheme is part of every document's hash: it changes with what is made of
	// a file.
	docScheme   = "1/"
	longestFile = 2 << 20 // of a file that is searched; a longer one is found by its name
	putAtOnce   = 8 << 20 // bytes that are read before they are put in
	embedBatch  = 8       // passages, between two looks whether to go on
	// embedAfter is how long the workspace of a job at work has to be left alone
	// before it is made findable: whoever works goes first.
	embedAfter = 2 * time.Second
)

// A finder keeps the index of what jobs have: one file for all of them, with a
// space for each. Words are put in before a search; vectors are made by one
// goroutine, which begins when first something is to be done and has ended when
// close returns. The zero value is ready.
type finder struct {
	putting sync.Mutex // one job is put in at a time

	mu     sync.Mutex
	index  *index.Index
	models map[config.Embedder]embed.Embedder
	queue  []*task
	later  map[event.FlowID]*time.Timer
	toils  bool            // the goroutine is there
	ctx    context.Context // of what goes on in the background; nil until something does
	cancel context.CancelFunc
	wg     sync.WaitGroup
	after  time.Duration // embedAfter, unless it is set
}

// life is how long things go on in the background. The lock is held.
func (f *finder) life() context.Context {
	if f.ctx == nil {
		f.ctx, f.cancel = context.WithCancel(context.Background())
	}
	return f.ctx
}

// work is what is to be made findable by its meaning.
type work struct {
	x  *index.Index
	id event.FlowID
	e  embed.Embedder
}

// A task is work that somebody waits for.
type task struct {
	work
	done chan struct{} // closed when err is set
	err  error
}

// open is the index, made if it is not there.
func (f *finder) open(a *App) (*index.Index, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.index != nil {
		return f.index, nil
	}
	x, err := index.Open(a.state(indexFile))
	f.index = x
	return x, err
}

// model is the embedder of a configuration: one in this process, since it may take
// a while until one is ready.
func (f *finder) model(c config.Embedder) (embed.Embedder, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e, ok := f.models[c]; ok {
		return e, nil
	}
	e, err := newEmbedder(c)
	if err == nil {
		if f.models == nil {
			f.models = map[config.Embedder]embed.Embedder{}
		}
		f.models[c] = e
	}
	return e, err
}

// close ends what goes on. What was done is kept.
func (f *finder) close() error {
	f.mu.Lock()
	for id, t := range f.later { // order does not matter
		t.Stop()
		delete(f.later, id)
	}
	f.life()
	f.cancel()
	f.mu.Unlock()
	f.wg.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ctx, f.cancel = nil, nil
	if f.index == nil {
		return nil
	}
	err := f.index.Close()
	f.index = nil
	return err
}

// await has work done and waits for that, not longer than so long.
func (f *finder) await(ctx context.Context, w work, most time.Duration) error {
	// Nothing is to be done more often than not.
	if c, err := w.x.Coverage(ctx, space(w.id), w.e); err != nil || c.Done() {
		return err
	}
	t := f.want(w)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-t.done:
		return t.err
	case <-timer.C:
	case <-ctx.Done():
	}
	return nil
}

// want has work done after what was wanted before it.
func (f *finder) want(w work) *task {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, t := range f.queue {
		if t.work == w {
			return t
		}
	}
	t := &task{work: w, done: make(chan struct{})}
	f.queue = append(f.queue, t)
	if !f.toils {
		ctx := f.life()
		f.toils = true
		f.wg.Go(func() { f.toil(ctx) })
	}
	return t
}

// toil does what is wanted until there is nothing more.
func (f *finder) toil(ctx context.Context) {
	for {
		f.mu.Lock()
		if len(f.queue) == 0 {
			f.toils = false
			f.mu.Unlock()
			return
		}
		t := f.queue[0]
		f.mu.Unlock()
		t.err = t.embed(ctx)
		f.mu.Lock()
		f.queue = f.queue[1:]
		f.mu.Unlock()
		close(t.done)
	}
}

func (w work) embed(ctx context.Context) error {
	for {
		c, err := w.x.Embed(ctx, space(w.id), w.e, embedBatch)
		if err != nil || c.Done() {
			return err
		}
	}
}

// heed has the workspace of a job made findable some time after it has changed.
func (f *finder) heed(a *App, id event.FlowID, s event.JobStarted, events []event.Event) {
	changed := false
	for _, e := range events {
		switch e.Body.(type) {
		case event.Prepared, event.Kept:
			changed = true
		}
	}
	if !changed {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.later[id]; t != nil {
		t.Reset(cmp.Or(f.after, embedAfter))
		return
	}
	if f.later == nil {
		f.later = map[event.FlowID]*time.Timer{}
	}
	f.later[id] = time.AfterFunc(cmp.Or(f.after, embedAfter), func() { f.prepare(a, id, s) })
}

// leave is that a job is not worked on any more.
func (f *finder) leave(id event.FlowID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t := f.later[id]; t != nil {
		t.Stop()
		delete(f.later, id)
	}
}

// prepare puts the files of a job in and has them made findable by their meaning.
// If that fails a search does it, and says why not.
func (f *finder) prepare(a *App, id event.FlowID, s event.JobStarted) {
	f.mu.Lock()
	if f.later[id] == nil { // nobody wants that any more
		f.mu.Unlock()
		return
	}
	f.wg.Add(1)
	defer f.wg.Done()
	ctx := f.life()
	f.mu.Unlock()
	x, err := f.open(a)
	if err != nil {
		return
	}
	if _, err := f.refresh(ctx, x, id, workplace(s)); err != nil {
		return
	}
	if e, _ := a.embedder(ctx, s); e != embed.None {
		f.want(work{x, id, e})
	}
}

// refresh makes the words of a job's files findable as they are at its newest
// commit, and gives their hashes by path. What has not changed is not read.
func (f *finder) refresh(ctx context.Context, x *index.Index, id event.FlowID, d jobdir.Dir) (map[string]string, error) {
	f.putting.Lock()
	defer f.putting.Unlock()
	commit, all, err := d.Entries(ctx, "")
	if err != nil {
		return nil, err
	}
	known, err := x.Docs(ctx, space(id))
	if err != nil {
		return nil, err
	}
	now := map[string]string{}
	var changed []jobdir.Entry
	for _, e := range all {
		if e.Link || strings.HasPrefix(e.Path, jobdir.Tools+"/") {
			continue
		}
		now[e.Path] = docScheme + e.Blob
		if known[e.Path] != now[e.Path] {
			changed = append(changed, e)
		}
	}
	var gone []string
	for name := range known { // order does not matter
		if _, there := now[name]; !there {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		err = x.Delete(ctx, space(id), gone...)
	}
	return now, errors.Join(err, fill(ctx, x, id, d, commit, changed))
}

// fill reads files and puts them into the index, a part of them at a time.
func fill(ctx context.Context, x *index.Index, id event.FlowID, d jobdir.Dir, commit string, all []jobdir.Entry) error {
	for len(all) > 0 {
		var some []jobdir.Entry
		var docs []index.Doc
		for size := int64(0); len(all) > 0 && size < putAtOnce; all = all[1:] {
			e := all[0]
			if e.Size > longestFile {
				docs = append(docs, docOf(e, commit, nil))
				continue
			}
			some, size = append(some, e), size+e.Size
		}
		texts, err := d.Read(ctx, some)
		if err != nil {
			return err
		}
		for i, e := range some {
			docs = append(docs, docOf(e, commit, texts[i]))
		}
		if _, err := x.Put(ctx, space(id), docs...); err != nil {
			return err
		}
	}
	return nil
}

// docOf is a file as it is found. One that is not text is found by its name.
func docOf(e jobdir.Entry, commit string, text []byte) index.Doc {
	doc := index.Doc{Path: e.Path, Commit: commit, Hash: docScheme + e.Blob}
	switch {
	case e.Size > longestFile:
		doc.Text = fmt.Sprintf("%s (%d MiB, too long to be searched)\n", e.Path, e.Size>>20)
	case bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text):
		doc.Text = fmt.Sprintf("%s (%d bytes, not text)\n", e.Path, e.Size)
	case path.Ext(e.Path) == ".html" || path.Ext(e.Path) == ".htm":
		doc.Text = withoutTags(text)
	default:
		doc.Text = string(text)
	}
	if doc.Text == "" {
		doc.Text = "\n"
	}
	return doc
}

// withoutTags is what a page says, on the lines where it says it.
func withoutTags(page []byte) string {
	var out strings.Builder
	z := html.NewTokenizer(bytes.NewReader(page))
	hidden := false
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.String()
		}
		if kind == html.TextToken && !hidden {
			out.Write(z.Text())
			continue
		}
		// What is left out leaves its lines behind.
		out.WriteByte(' ')
		out.WriteString(strings.Repeat("\n", bytes.Count(z.Raw(), []byte("\n"))))
		if name, _ := z.TagName(); string(name) == "script" || string(name) == "style" {
			hidden = kind == html.StartTagToken
		}
	}
}
