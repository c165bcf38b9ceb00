// Package dist holds the pages of the cockpit as they were built from
// internal/web/ui. They are committed, so that the program is built and run with
// nothing but Go.
package dist

import "embed"

//go:generate go run ../../tools/buildui

// Files are index.html, app.js and app.css.
//
//go:embed index.html app.js app.css
var Files embed.FS
