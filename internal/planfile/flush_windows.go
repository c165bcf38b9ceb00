package planfile

import "os"

// flush does nothing: there, a directory cannot be written out by itself.
func flush(*os.File) error { return nil }
