package sqlite

import "context"

// Unlisted is how many flows the next listing reads.
func (l *Log) Unlisted(ctx context.Context) (int, error) {
	news, err := l.since(ctx, l.listed.get())
	return len(news), err
}

// CoverEvery sets how many events wait before they are put into blocks. It is
// called before the log is used.
func (l *Log) CoverEvery(n uint64) { l.w.coverEvery = n }

// PollOnly has followers poll, as where files cannot be watched.
func (l *Log) PollOnly() { l.bell.pollOnly = true }

// Deaf has followers not hear the bell.
func (l *Log) Deaf() { l.bell.wake = func() {} }
