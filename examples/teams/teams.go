// Package teams holds the descriptions of teams that come with the program. They
// are examples as well: copy one to .conclave/teams/ and change it.
package teams

import "embed"

// Files are the descriptions, NAME.yaml each.
//
//go:embed *.yaml
var Files embed.FS
