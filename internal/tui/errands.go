package tui

func errandActions() []Action { return nil }
