// Conclave has several AI agents work on the same task and hand back one answer.
package main

import (
	"os"

	"conclave/internal/app"
	"conclave/internal/cli"
)

func main() { os.Exit(app.Main(os.Args[1:], cli.System())) }
