package tui

import "time"

// A notice is what the window itself has to say, such as why something cannot
// be done. The last few are kept for the person to look at again.
type notice struct {
	text  string
	since time.Time
	log   []string
	count int // of all there ever were
}

// noticeTime is how long a notice stays if nobody presses anything.
const noticeTime = 12 * time.Second

// maxNotices is how many are kept.
const maxNotices = 200

// notify tells the person something.
func (m *Model) notify(s string) {
	m.notice.text, m.notice.since = s, m.o.Now()
	m.notice.log = append(m.notice.log, s)
	m.notice.count++
	if n := len(m.notice.log); n > maxNotices {
		m.notice.log = m.notice.log[n-maxNotices:]
	}
}

// pressed takes an old notice away: whoever presses a key has had the time to
// read it, if it has stood for a moment.
func (n *notice) pressed(now time.Time) {
	if n.text != "" && now.Sub(n.since) > time.Second {
		n.text = ""
	}
}

// at is the notice that stands at a time.
func (n *notice) at(now time.Time) string {
	if now.Sub(n.since) > noticeTime {
		n.text = ""
	}
	return n.text
}

func (n *notice) shown() bool { return n.text != "" }
