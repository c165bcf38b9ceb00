//go:build !linux || !(amd64 || arm64)

package seccomp

// Program fails: there is no filter here.
func Program(Rules) ([]byte, error) { return nil, ErrArch }
