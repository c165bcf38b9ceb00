package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/app"
	"conclave/internal/control"
	"conclave/internal/coord"
	"conclave/internal/engine"
	"conclave/internal/event"
	"conclave/internal/eventlog/sqlite"
	"conclave/internal/flow"
	"conclave/internal/tui"
)

// talkers are five agents that say two hundred words a second each for minutes.
func talkers() string {
	var b strings.Builder
	b.WriteString("agents:\n")
	for i := range 5 {
		fmt.Fprintf(&b, "  - id: a%d\n    backend: {type: script, script: talk.yaml}\n", i)
	}
	return b.String()
}

const talkScript = `name: talker
word: 5ms
steps:
  - do:
      - say: |
          {{repeat 4000 "The window shows **words** as they come, and \x60code\x60 too.\n\n- one\n- two\n\n"}}
      - answer: Done.
`

// chattering is a project with an unfinished run of the talkers in whose timeline
// there are so many items, each with a text of so many bytes.
func chattering(ctx context.Context, dir string, items, size int) (event.FlowID, error) {
	config := filepath.Join(dir, "team.yaml")
	err := errors.Join(os.WriteFile(config, []byte(talkers()), 0o600), os.WriteFile(filepath.Join(dir, "talk.yaml"), []byte(strings.ReplaceAll(talkScript, `\x60`, "`")), 0o600))
	if err != nil {
		return "", err
	}
	a, err := app.Open(dir)
	if err != nil {
		return "", err
	}
	run, err := a.Prepare(ctx, control.Request{Task: "Talk.", Config: config})
	if err = errors.Join(err, a.Close()); err != nil {
		return "", err
	}
	run.Started.Rules.MaxCalls, run.Started.Rules.RunLimit = 1<<20, event.Duration(1000*time.Hour)
	log, err := sqlite.Open(ctx, filepath.Join(dir, ".conclave"))
	if err != nil {
		return "", err
	}
	defer log.Close()
	lease, err := log.Acquire(ctx, run.ID, false)
	if err != nil {
		return "", err
	}
	defer lease.Release()
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	d := &engine.Driver{Log: log, Lease: lease, Decider: func() flow.Decider { return &coord.Run{} },
		Observe: app.Keep(log, run.ID), Doer: &busy{n: items, size: size, leave: leave}}
	if err := d.Start(ctx, event.Fact{ID: "started", Body: run.Started}); !errors.Is(err, context.Canceled) {
		return "", err
	}
	return run.ID, nil
}

// windows measures the terminal UI: frames in this process, everything else with
// the real program on a pseudo terminal.
func windows(ctx context.Context, dir string) ([]row, error) {
	var rows []row
	for _, f := range []func(context.Context, string) ([]row, error){frames, firstFrame, traffic, idle, transcript} {
		sub, err := os.MkdirTemp(dir, "")
		if err != nil {
			return nil, err
		}
		r, err := f(ctx, sub)
		if err != nil {
			return nil, err
		}
		rows = append(rows, r...)
	}
	return rows, nil
}

// frames takes the time of every message and the frame that follows it, while
// five agents stream into a timeline of ten thousand items.
func frames(ctx context.Context, dir string) ([]row, error) {
	id, err := chattering(ctx, dir, 10_000, 200)
	if err != nil {
		return nil, err
	}
	a, err := app.Open(dir)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var rows []row
	for _, split := range []bool{false, true} {
		took, err := stream(ctx, a, id, 300, split)
		if err != nil {
			return nil, err
		}
		slices.Sort(took)
		p50, p99 := took[len(took)/2], took[len(took)*99/100]
		what := "a frame: 10,000 items, five agents × 200 words/s, 200×50"
		if split {
			what = "the same, agents side by side"
		}
		rows = append(rows, row{what: what, floor: "", ours: fmt.Sprintf("p50 %s, p99 %s", short(p50), short(p99)),
			budget: "p99 ≤ 8 ms", ok: p99 <= 8*time.Millisecond})
	}
	return rows, nil
}

// stream opens a window on a run and returns how long so many frames took, once
// the whole log has come.
func stream(ctx context.Context, a *app.App, id event.FlowID, n int, split bool) ([]time.Duration, error) {
	ctx, leave := context.WithCancel(ctx)
	m, err := tui.New(ctx, tui.Options{Program: a, Flow: id})
	if err != nil {
		leave()
		return nil, err
	}
	msgs := make(chan tea.Msg, 64)
	do := func(c tea.Cmd) {
		if c != nil {
			go func() {
				select {
				case msgs <- c():
				case <-ctx.Done():
				}
			}()
		}
	}
	defer func() { leave(); m.Close() }()
	m.Update(tea.WindowSizeMsg{Width: 200, Height: 50})
	if split {
		m.Update(tea.KeyPressMsg{Code: 's', Mod: tea.ModAlt})
	}
	do(m.Init())
	var took []time.Duration
	loaded := time.Now().Add(3 * time.Second)
	for len(took) < n {
		msg := <-msgs
		if b, ok := msg.(tea.BatchMsg); ok {
			for _, c := range b {
				do(c)
			}
			continue
		}
		if msg == nil {
			continue
		}
		t := time.Now()
		_, cmd := m.Update(msg)
		_ = m.View()
		if t.After(loaded) {
			took = append(took, time.Since(t))
		}
		do(cmd)
	}
	return took, nil
}

// firstFrame is from the start of the program until its window is drawn. The
// floor is the start of the process.
func firstFrame(_ context.Context, dir string) ([]row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	floor, err := median(21, func() error { return exec.Command(prog, "--version").Run() })
	if err != nil {
		return nil, err
	}
	ours, err := median(21, func() error {
		w, err := openTerminal(prog, dir, 80, 24)
		if err != nil {
			return err
		}
		defer w.kill()
		return w.until("F1")
	})
	if err != nil {
		return nil, err
	}
	r := against("first frame of the window", "start of the process", floor, ours, 0)
	r.budget, r.ok = "≤ 60 ms over it", ours-floor <= 60*time.Millisecond
	return []row{r}, nil
}

// traffic counts what the program writes to the terminal for every word that an
// agent says.
func traffic(ctx context.Context, dir string) ([]row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	id, err := chattering(ctx, dir, 10_000, 200)
	if err != nil {
		return nil, err
	}
	w, err := openTerminal(prog, dir, 200, 50, "resume", string(id))
	if err != nil {
		return nil, err
	}
	defer w.kill()
	<-time.After(3 * time.Second)
	before := len(w.said())
	cpu := w.cpu()
	const span = 5 * time.Second
	<-time.After(span)
	part := w.said()[before:]
	used := w.cpu() - cpu
	words := 5 * 200 * int(span.Seconds())
	clears := bytes.Count(part, []byte("\x1b[2J"))
	return []row{
		{what: "written to the terminal for each word said", ours: fmt.Sprintf("%.1f bytes, %d full clears", float64(len(part))/float64(words), clears), budget: "0 full clears", ok: clears == 0},
		{what: "processor while they stream, the five agents included", ours: fmt.Sprintf("%.0f %% of a core", 100*used.Seconds()/span.Seconds())},
	}, nil
}

// idle looks at a window that nobody types into.
func idle(_ context.Context, dir string) ([]row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	w, err := openTerminal(prog, dir, 80, 24)
	if err != nil {
		return nil, err
	}
	defer w.kill()
	if err := w.until("F1"); err != nil {
		return nil, err
	}
	<-time.After(3 * time.Second)
	cpu, woken, said := w.cpu(), w.wakeups(), len(w.said())
	const span = 5 * time.Second
	<-time.After(span)
	n := w.wakeups() - woken
	return []row{{what: "an idle window for 5 s", floor: "", ours: fmt.Sprintf("%d wake-ups, %s of processor, %d bytes", n, short(w.cpu()-cpu), len(w.said())-said),
		budget: "0 wake-ups", ok: n == 0}}, nil
}

// transcript opens a window on a run that said 100 MB. The floor is a window on
// a short one.
func transcript(ctx context.Context, dir string) ([]row, error) {
	prog, err := build(dir, "conclave", "./cmd/conclave")
	if err != nil {
		return nil, err
	}
	rss := func(name string, items int) (float64, error) {
		project := filepath.Join(dir, name)
		if err := os.Mkdir(project, 0o700); err != nil {
			return 0, err
		}
		id, err := chattering(ctx, project, items, 4000)
		if err != nil {
			return 0, err
		}
		w, err := openTerminal(prog, project, 120, 40, "resume", string(id))
		if err != nil {
			return 0, err
		}
		defer w.kill()
		w.settle()
		return w.resident(), nil
	}
	floor, err := rss("short", 100)
	if err != nil {
		return nil, err
	}
	ours, err := rss("long", 25_000)
	if err != nil {
		return nil, err
	}
	return []row{{what: "resident memory of a window on a transcript of 100 MB", floor: fmt.Sprintf("%.0f MB (on one of 0.4 MB)", floor), ours: fmt.Sprintf("%.0f MB", ours),
		ratio: fmt.Sprintf("%.2f×", ours/floor), budget: "≤ 100 MB over it", ok: ours-floor <= 100}}, nil
}
