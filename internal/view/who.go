package view

import "strings"

// Speaker is who people read has said something. Whoever says it with a command of
// the program, which the log names, is the person at the terminal.
func Speaker(by string) string {
	if by = OneLine(by); by == "" || strings.HasPrefix(by, "conclave ") {
		return "you"
	}
	return by
}

// Engine is what plays an agent: the backend and its model, each told once.
func Engine(backend, model string) string {
	backend, model = OneLine(backend), OneLine(model)
	if model == backend || strings.HasPrefix(model, backend+":") {
		backend = ""
	}
	return words(" ", backend, model)
}
