package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"conclave/internal/backend"
)

// Lock takes a thread for one process: programs do not mind when two of them
// write to one conversation, and one of the two branches is lost. The lock is
// freed by the function it returns, or by the end of this process.
func Lock(home, thread string) (unlock func(), err error) {
	if thread == "" {
		return func() {}, nil
	}
	name := strings.TrimSuffix(file(home, thread), ".json") + ".lock"
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return nil, broken("lock the conversation", err)
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, broken("lock the conversation", err)
	}
	if free, err := lock(f); err != nil || !free {
		f.Close()
		if err == nil {
			return nil, &backend.Error{Kind: backend.Broken, Message: fmt.Sprintf("another program goes on with this conversation; it holds %s", name)}
		}
		return nil, broken("lock the conversation", err)
	}
	return func() { f.Close() }, nil
}
