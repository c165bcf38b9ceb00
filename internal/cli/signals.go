package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"conclave/internal/event"
)

// catch asks for the signals that a watch acts on. Those that are ignored stay
// so: whoever started this program with nohup or in the background wants that.
func catch() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 8)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	return signals, func() { signal.Stop(signals) }
}

// request is what the person has asked for so far.
type request int

const (
	nothing    request = iota
	asked              // Ctrl-C once: to cancel, unless a second one comes soon
	cancelling         // the run has been told
	leaving
)

// second is how long a second Ctrl-C may come after the first. Until then the
// run is not cancelled, so that leaving it does not cancel it either.
const second = 600 * time.Millisecond

// signal acts on what was pressed: once cancels, twice leaves.
func (w *watch) signal(s os.Signal) {
	switch {
	case w.request == leaving && s == os.Interrupt:
		w.screen.notice("Waiting for the agents to stop; press Ctrl-C again to end the program at once.")
		signal.Reset(os.Interrupt)
	case s == os.Interrupt && w.request == nothing:
		w.request, w.cancel = asked, time.After(second)
		w.screen.notice("Cancelling; press Ctrl-C again to leave the " + w.noun() + " as it is, to be resumed.")
	default:
		w.hand = w.hand || s == syscall.SIGQUIT
		w.leave()
	}
}

// flowNoun is what people call a flow, by its id.
func flowNoun(id event.FlowID) string {
	switch {
	case namesSession(id):
		return "conversation"
	case namesTeam(id):
		return "team"
	}
	return "run"
}

// leave stops our driving. A run that is not cancelled yet will not be.
func (w *watch) leave() {
	w.cancel = nil
	w.stopping = w.request == cancelling
	w.request = leaving
	w.stop(errLeave)
}

func (w *watch) askCancel(ctx context.Context) error {
	w.cancel, w.request = nil, cancelling
	if _, live := w.screen.(*terminal); live { // elsewhere the line before still stands
		w.screen.notice("Cancelling; press Ctrl-C again to leave without waiting for the end.")
	}
	return w.c.Send(ctx, w.id, event.Fact{ID: cancelID(), Body: event.CancelRequested{By: "Ctrl-C"}})
}

// cancelID is the id of a request of this process.
func cancelID() string { return fmt.Sprintf("cancel/%d/%d", os.Getpid(), time.Now().UnixNano()) }
