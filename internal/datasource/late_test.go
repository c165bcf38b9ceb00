package datasource

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// A statement whose time is over is the model's to change; one that whoever
// asked has given up is not.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own, cancel := context.WithTimeout(t.Context(), statementTime)
		defer cancel()
		boom := errors.New("interrupted")
		if err := late(t.Context(), own, boom); err != boom {
			t.Error(err)
		}
		<-own.Done()
		if err := late(t.Context(), own, boom); err != errSlow {
			t.Error(err)
		}
		if err := late(t.Context(), own, nil); err != nil {
			t.Error(err)
		}
		outer, stop := context.WithCancel(t.Context())
		stop()
		if err := late(outer, own, boom); err != boom {
			t.Error(err)
		}
	})
}
