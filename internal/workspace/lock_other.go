//go:build !unix

package workspace

import (
	"context"
	"os"
)

// lockFile has no lock to offer between processes here; the lease on the flow
// keeps a second driver away.
func lockFile(_ context.Context, name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
}
