package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/tui/input"
	"conclave/internal/tui/theme"
	"conclave/internal/view"
)

// A Model is one window. Bubble Tea's loop alone touches it.
type Model struct {
	// What it was opened with.
	ctx     context.Context
	stop    context.CancelFunc // ends everything the window has begun
	c       Program
	o       Options
	table   []Action
	keys    keymap
	feed    *feed
	driver  *driver
	errands errands
	texts   *texts
	quiet   *quiet
	stops   *stops
	showing context.Context // ends when the window has to
	team    control.Team
	history []string

	// What the terminal is like.
	width, height int
	away          bool // the terminal does not have the focus
	theme         theme.Theme
	dark          bool

	conversation

	// What the person is doing.
	input   *input.Model
	modes   event.Modes
	split   bool
	lanes   lanes
	screens []Screen
	notice  notice
	once    once
	hold    hold   // what the dialog that is open has wait
	zones   []zone // of the last frame, to be clicked
	spin    spin
	ticking bool
	job     *jobScreen                 // that is open, nil for none
	crew    *teamScreen                // the team that is open, nil for none
	waiting map[event.FlowID]time.Time // jobs and teams that waited for the person when last looked at
	looking bool                       // for those
	parting string                     // to be said when the window is closed
}

// A conversation is what the window is open on, and what the person does there:
// all that goes when the window turns to another.
type conversation struct {
	// What the events say. Both may be missing, and a run may stand alone.
	id      event.FlowID
	session view.Session
	story   *story
	past    *story // an earlier run that is looked at instead

	tab    int // 0 is all agents together
	inList bool
	to     string // whom messages go to: all if empty, "current", or an agent
	called string // what the person was called for last

	// What the person decides, as far as it is not sent or not taken yet.
	put     put
	wishes  wishes      // of the agent that is talked to
	review  *planReview // of the plan that waits
	unheard []unheard
	leaving bool // the window closes when the run has ended
	hushed  bool // the agent that is talked to was stopped because of that

	// talk is what the window has besides of a conversation with one agent.
	talk talking
	// aside: what is said is for all, though an agent could be talked to.
	aside  bool
	detour detour
}

var _ tea.Model = (*Model)(nil)

// New makes a window. Close ends what it has started.
func New(ctx context.Context, o Options) (*Model, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, stop := context.WithCancel(ctx)
	m := &Model{ctx: ctx, showing: ctx, stop: stop, c: o.Program, o: o, table: actions(), dark: true, width: 80, height: 24}
	var wrong []string
	m.keys, wrong = newKeymap(m.table, o.Look.Keys)
	m.table = m.keys.table
	m.setTheme(o.Look.Theme)
	m.texts = newTexts(func(c event.Content) (string, error) { return m.c.Text(ctx, c) })
	m.input = input.New(m.inputOptions())
	m.input.Focus()
	m.feed, m.driver = newFeed(ctx, m.c), newDriver(ctx, m.c)
	if err := m.begin(); err != nil {
		m.Close()
		return nil, err
	}
	for _, w := range append(wrong, m.team.Warnings...) {
		m.notify(w)
	}
	return m, nil
}

// begin opens the window on a flow that is there already, or on nothing yet.
func (m *Model) begin() (err error) {
	var a arrival
	if m.o.Flow == "" {
		if a, err = m.firstArrival(); err != nil && m.o.Job == "" && m.o.Team == "" { // else nobody has to be there to talk to
			return err
		}
	} else if a, err = arrive(m.ctx, m.c, m.o.Flow, m.o.Config); err != nil {
		return err
	}
	if m.modes = a.team.Modes; m.o.Modes != nil {
		m.modes = *m.o.Modes
	}
	m.arrived(a)
	return nil
}

// Close ends everything the window has started, and waits for it.
func (m *Model) Close() {
	m.letGo()
	m.stop()
	m.driver.release()
	m.errands.close()
	m.feed.close()
	m.texts.close()
}

// Init begins to listen, and says what was to be said at once.
func (m *Model) Init() tea.Cmd {
	cmds := []tea.Cmd{m.feed.next(), tea.RequestBackgroundColor, m.recall()}
	cmds = append(cmds, m.driver.ensure(m.drivenFlow()))
	if m.o.Pick {
		cmds = append(cmds, m.openRuns())
	}
	if m.o.Job != "" {
		cmds = append(cmds, m.openJob(m.o.Job))
	}
	if m.o.Team != "" {
		cmds = append(cmds, m.openTeam(m.o.Team))
	}
	cmds = append(cmds, m.lookForJobs(true))
	if m.o.Task != "" {
		cmds = append(cmds, m.submit(input.Submit{Text: m.o.Task, Line: m.o.Task}))
	}
	return tea.Batch(cmds...)
}

// Update takes one message in. Each family of messages has its file.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.quiet.wake()
	m.spin.skip = false
	cmd := m.update(msg)
	return m, tea.Batch(cmd, m.holding(), m.tick())
}

func (m *Model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case batch:
		return tea.Batch(m.take(msg), m.feed.next())
	case driven:
		return m.drivenEnded(msg)
	case sent:
		return m.wasSent(msg)
	case spun:
		m.spin.on = false
		return nil
	case ticked:
		m.ticking = false
		return nil
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return nil
	case tea.BackgroundColorMsg:
		m.dark = msg.IsDark()
		m.setTheme(m.o.Look.Theme)
		return nil
	case tea.FocusMsg:
		m.away = false
		return m.lookForJobs(true)
	case tea.BlurMsg:
		m.away = true
		return nil
	case tea.KeyPressMsg:
		m.put.unread = false
		return m.key(msg)
	case tea.MouseMsg:
		m.put.unread = false
		return m.mouse(msg)
	case func(*Model) tea.Cmd: // what a Cmd found out, to be taken in here
		return msg(m)
	}
	if s := m.top(); s != nil {
		cmd, _ := s.Update(m, msg)
		return cmd
	}
	return m.typed(msg)
}

// key gives a key to whatever is on top.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	m.notice.pressed(m.o.Now())
	if s := m.top(); s != nil {
		if m.slipped(s, msg) {
			return nil
		}
		return m.screenKey(s, msg)
	}
	if m.inList {
		if a, ok := m.keys.find(msg, InList, Anywhere); ok {
			return m.run(a, "")
		}
		return nil
	}
	if m.edits(msg) {
		return m.takeBack(true)
	}
	// Keys that mean something anywhere come before the input only where it has
	// no use for them: it says so.
	return m.typed(msg)
}

// typed gives a message to the input, and what it has no use for to the table.
func (m *Model) typed(msg tea.Msg) tea.Cmd {
	out, cmd := m.input.Update(msg)
	if _, free := out.(input.Unhandled); !free {
		m.once = once{} // whoever types has thought of something else
	}
	return tea.Batch(cmd, m.outcome(out, msg))
}

// outcome acts on what the input has made of a message.
func (m *Model) outcome(out input.Outcome, msg tea.Msg) tea.Cmd {
	switch out := out.(type) {
	case input.Submit:
		return m.submit(out)
	case input.Editor:
		return m.editor()
	case input.Unable:
		m.notify(out.Why)
	case input.Unhandled:
		if k, ok := msg.(tea.KeyPressMsg); ok {
			if a, ok := m.keys.find(k, InInput, Anywhere); ok {
				return m.run(a, "")
			}
		}
	}
	return nil
}

// ticked says that a second has passed.
type ticked struct{}

// tick has the window drawn once a second while something on it counts time.
func (m *Model) tick() tea.Cmd {
	if m.ticking || !m.counts() {
		return nil
	}
	m.ticking = true
	ctx := m.ctx
	return func() tea.Msg {
		t := time.NewTimer(time.Second)
		defer t.Stop()
		select {
		case <-t.C:
			return ticked{}
		case <-ctx.Done():
			return nil
		}
	}
}

// counts reports whether time alone changes the screen.
func (m *Model) counts() bool {
	return m.busy() && (m.talks() || m.story != nil && !m.story.over()) || m.notice.shown() || m.crew != nil && m.crew.team.State() == view.TeamWorking && m.feed.hears(m.crew.id)
}
