package tui

import (
	"strings"
	"time"

	"conclave/internal/tui/text"
)

// A notice is what the window itself has to say, such as why something cannot
// be done. The last few are kept for the person to look at again.
type notice struct {
	text  string
	since time.Time
	now   bool // it goes when the situation changes
	log   []string
	count int // of all there ever were
}

// noticeTime is how long a notice stays if nobody presses anything.
const noticeTime = 6 * time.Second

// noticeRead is how long a notice must have stood for a key to take it away.
const noticeRead = 300 * time.Millisecond

// noticeLines is how many lines a notice may have: what to do is at its end.
const noticeLines = 2

// maxNotices is how many are kept.
const maxNotices = 200

// notify tells the person something.
func (m *Model) notify(s string) {
	m.notice.text, m.notice.since, m.notice.now = s, m.o.Now(), false
	m.notice.log = append(m.notice.log, s)
	m.notice.count++
	if n := len(m.notice.log); n > maxNotices {
		m.notice.log = m.notice.log[n-maxNotices:]
	}
}

// notifyNow tells the person something that is so as things stand, and not when a
// run has begun or ended meanwhile.
func (m *Model) notifyNow(s string) {
	m.notify(s)
	m.notice.now = true
}

// changed takes away what was so before a run began or ended.
func (n *notice) changed() {
	if n.now {
		n.text = ""
	}
}

// pressed takes an old notice away: whoever presses a key has had the time to
// read it, if it has stood for a moment.
func (n *notice) pressed(now time.Time) {
	if n.text != "" && now.Sub(n.since) >= noticeRead {
		n.text = ""
	}
}

// at is the notice that stands at a time.
func (n *notice) at(now time.Time) string {
	if now.Sub(n.since) >= noticeTime {
		n.text = ""
	}
	return n.text
}

func (n *notice) shown() bool { return n.text != "" }

// noticed is the notice that stands, as lines of at most w cells.
func (m *Model) noticed(w int) []string {
	n := m.notice.at(m.o.Now())
	if n == "" {
		return nil
	}
	lines := text.Wrap(text.Clean(strings.ReplaceAll(n, "\n", " ")), max(w-1, 1))
	if len(lines) > noticeLines {
		lines = append(lines[:noticeLines-1:noticeLines-1], strings.Join(lines[noticeLines-1:], " "))
	}
	for i, l := range lines {
		lines[i] = " " + m.theme.Warn.Render(text.Cut(strings.TrimSpace(l), max(w-1, 1)))
	}
	return lines
}
