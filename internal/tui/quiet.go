package tui

import (
	"reflect"
	"sync"
	"time"
	"unsafe"

	tea "charm.land/bubbletea/v2"
)

// quiet stops the renderer's clock while nothing happens. Bubble Tea writes
// frames out on a ticker of its own, sixty times a second, whether there is a new
// one or not; a window that nobody types into would keep a laptop awake. There is
// no option for it, so the ticker is reached for where it is kept; should a later
// version keep it elsewhere, the window works and ticks.
type quiet struct {
	program *tea.Program
	ticker  *time.Ticker // of the program's loop alone

	mu     sync.Mutex
	sleep  *time.Timer
	last   time.Time // message
	asleep bool
}

const (
	frameTime = time.Second / 60
	// restless is how long after the last message frames are still written out.
	restless = 250 * time.Millisecond
)

func newQuiet(p *tea.Program) *quiet { return &quiet{program: p} }

// wake has the next frames written out. It is called in the program's loop,
// which begins after the ticker is made.
func (q *quiet) wake() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ticker == nil {
		if q.ticker = tickerOf(q.program); q.ticker == nil {
			return
		}
		q.sleep = time.AfterFunc(restless, q.rest)
	}
	q.last = time.Now()
	if q.asleep {
		q.ticker.Reset(frameTime)
		q.asleep = false
	}
	q.sleep.Reset(restless)
}

// rest stops the clock, unless something has come meanwhile.
func (q *quiet) rest() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if time.Since(q.last) >= restless {
		q.ticker.Stop()
		q.asleep = true
	}
}

// tickerOf is the ticker that a program's renderer waits for, if it can be found.
func tickerOf(p *tea.Program) *time.Ticker {
	f := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !f.IsValid() || f.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(unsafe.Pointer(f.UnsafeAddr()))
}
