package input

// Places in a buffer that keys go to.

func (b *buffer) lineStart() int {
	i := b.at
	for i > 0 && b.atoms[i-1].s != "\n" {
		i--
	}
	return i
}

func (b *buffer) lineEnd() int {
	i := b.at
	for i < len(b.atoms) && b.atoms[i].s != "\n" {
		i++
	}
	return i
}

// wordLeft is the beginning of the word before the cursor.
func (b *buffer) wordLeft() int {
	i := b.at
	for i > 0 && !b.atoms[i-1].word() {
		i--
	}
	if i > 0 && b.atoms[i-1].chip != nil {
		return i - 1
	}
	for i > 0 && b.atoms[i-1].word() && b.atoms[i-1].chip == nil {
		i--
	}
	return i
}

// wordRight is the end of the word after the cursor.
func (b *buffer) wordRight() int {
	i := b.at
	for i < len(b.atoms) && !b.atoms[i].word() {
		i++
	}
	if i < len(b.atoms) && b.atoms[i].chip != nil {
		return i + 1
	}
	for i < len(b.atoms) && b.atoms[i].word() && b.atoms[i].chip == nil {
		i++
	}
	return i
}

// blankLeft is the beginning of what stands before the cursor between spaces.
func (b *buffer) blankLeft() int {
	i := b.at
	for i > 0 && b.atoms[i-1].space() {
		i--
	}
	for i > 0 && !b.atoms[i-1].space() {
		i--
	}
	return i
}

// move goes to a place.
func (b *buffer) move(to int) {
	b.at, b.goal, b.last = to, 0, moving
}

// edits are the keys that change a text or move in it, as readline has them.
var edits = map[string]func(*buffer){
	"left":       func(b *buffer) { b.move(max(0, b.at-1)) },
	"right":      func(b *buffer) { b.move(min(len(b.atoms), b.at+1)) },
	"home":       func(b *buffer) { b.move(b.lineStart()) },
	"end":        func(b *buffer) { b.move(b.lineEnd()) },
	"ctrl+left":  func(b *buffer) { b.move(b.wordLeft()) },
	"ctrl+right": func(b *buffer) { b.move(b.wordRight()) },
	"ctrl+home":  func(b *buffer) { b.move(0) },
	"ctrl+end":   func(b *buffer) { b.move(len(b.atoms)) },

	"backspace":     func(b *buffer) { b.remove(max(0, b.at-1), b.at) },
	"delete":        func(b *buffer) { b.remove(b.at, min(len(b.atoms), b.at+1)) },
	"ctrl+w":        func(b *buffer) { b.take(b.blankLeft(), b.at) },
	"alt+backspace": func(b *buffer) { b.take(b.wordLeft(), b.at) },
	"alt+d":         func(b *buffer) { b.take(b.at, b.wordRight()) },
	"ctrl+k":        killLine,
	"ctrl+u":        killBack,
	"ctrl+y":        (*buffer).paste,
	"alt+y":         (*buffer).pasteOlder,
	"ctrl+_":        (*buffer).back,
}

// same are other names of keys: what terminals send for them, and what people
// know from elsewhere.
var same = map[string]string{
	"ctrl+b": "left", "ctrl+f": "right", "ctrl+a": "home", "ctrl+e": "end",
	"alt+b": "ctrl+left", "alt+f": "ctrl+right", "alt+left": "ctrl+left", "alt+right": "ctrl+right",
	"ctrl+h": "backspace", "shift+backspace": "backspace", "shift+delete": "delete",
	"ctrl+backspace": "alt+backspace", "alt+ctrl+h": "alt+backspace", "ctrl+alt+h": "alt+backspace",
	"ctrl+delete": "alt+d", "alt+delete": "alt+d",
	"ctrl+/": "ctrl+_", "ctrl+shift+-": "ctrl+_", "ctrl+shift+_": "ctrl+_", "ctrl+7": "ctrl+_",
	"ctrl+p": "up", "ctrl+n": "down",
	"shift+enter": "ctrl+j", "alt+enter": "ctrl+j", "ctrl+enter": "ctrl+j",
	"kpenter": "enter", "ctrl+m": "enter", "ctrl+i": "tab", "ctrl+[": "esc",
}

// killLine takes the rest of the line; at its end, the line break.
func killLine(b *buffer) {
	to := b.lineEnd()
	if to == b.at {
		to = min(len(b.atoms), to+1)
	}
	b.take(b.at, to)
}

// killBack takes the beginning of the line; there already, the break before it.
func killBack(b *buffer) {
	from := b.lineStart()
	if from == b.at {
		from = max(0, from-1)
	}
	b.take(from, b.at)
}
