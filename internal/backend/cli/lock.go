package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"conclave/internal/backend"
)

// Lock takes a thread for one process: programs do not mind when two of them
// write to one conversation, and one of the two branches is lost. The lock is
// freed by the function it returns, or by the end of this process.
func Lock(home, thread string) (unlock func(), err error) {
	if thread == "" {
		return func() {}, nil
	}
	var f *os.File
	name := file(thread, ".lock")
	err = within(home, name, func(root *os.Root) (err error) {
		f, err = openFile(root, name, os.O_CREATE|os.O_RDWR, 0o600)
		return err
	})
	if err != nil {
		return nil, broken("lock the conversation", err)
	}
	if free, err := lock(f); err != nil || !free {
		f.Close()
		if err == nil {
			return nil, &backend.Error{Kind: backend.Broken, Message: fmt.Sprintf("another program goes on with this conversation; it holds %s", filepath.Join(home, name))}
		}
		return nil, broken("lock the conversation", err)
	}
	return func() { f.Close() }, nil
}
