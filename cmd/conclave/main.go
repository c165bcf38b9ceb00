// Conclave has several AI agents work on the same task and hand back one answer.
package main

import (
	"os"

	"conclave/internal/app"
	"conclave/internal/cli"
	"conclave/internal/sandbox/landlock"
)

func main() {
	landlock.Child() // this may be a command about to be confined
	os.Exit(app.Main(os.Args[1:], cli.System()))
}
