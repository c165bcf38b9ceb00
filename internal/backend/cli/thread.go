package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/backend"
)

// A Thread is what is remembered of a conversation that a program keeps. The
// program's memory is a cache of our log: it may be lost and begun again.
type Thread struct {
	// Native is the program's own name of the conversation; empty if there is none.
	Native string `json:"native,omitempty"`
	// Told is what the program was told last, Pictures how many pictures with it,
	// At how many messages there were before.
	Told     string `json:"told,omitempty"`
	Pictures int    `json:"pictures,omitempty"`
	At       int    `json:"at,omitempty"`
	// News is what it was told since, while it worked. Saying is what of Told was said
	// last, and Earlier what had been said of it before, in takes that were cut.
	News    []News `json:"news,omitempty"`
	Saying  string `json:"saying,omitempty"`
	Earlier []News `json:"earlier,omitempty"`
	// Heard and Said are marks by which a backend finds again, in the program's own
	// record, what it was told last and what it said last in a turn that was whole.
	Heard string `json:"heard,omitempty"`
	Said  string `json:"said,omitempty"`
}

// A News is something a program was told while it worked, and the mark by which a
// backend finds it in the program's own record.
type News struct {
	Text string `json:"text"`
	Mark string `json:"mark"`
}

// Untold is the thread as it was before the program was told what it was told last,
// which was lost with it.
func (t Thread) Untold() Thread {
	return Thread{Native: t.Native, Said: t.Said, At: t.At, News: t.Earlier}
}

// A Say is what to tell a program in a turn.
type Say struct {
	Text   string
	Images []backend.Image
}

// GoOn is said to a program that was told everything and was then cut off.
const GoOn = "You were interrupted before you had finished. Go on."

// Next is what has to be said for the program to know all of a conversation, and
// what is to be remembered, with Save, before it is said.
//
// New is what stands after the assistant's last message. If it was told already,
// the turn was cut; of what was told in part, only the messages are new that were
// not. Without a native conversation what was before is written out.
func (t Thread) Next(messages []backend.Message) (Say, Thread) {
	at := 0
	for i, m := range messages {
		if m.From == backend.Assistant {
			at = i + 1
		}
	}
	parts, images := fresh(messages[at:])
	text := strings.Join(parts, gap)
	next := Thread{Native: t.Native, Said: t.Said, Told: text, Pictures: len(images), At: at}
	say := Say{Text: text, Images: images}
	again := t.Native != "" && t.At == at && (t.Told != "" || t.Pictures > 0 || len(t.News) > 0)
	rest, some := t.untold(parts)
	switch {
	case again && len(rest) == 0 && t.Pictures == len(images):
		say = Say{Text: GoOn}
	case again && some && t.Pictures <= len(images):
		say = Say{Text: strings.Join(rest, gap), Images: images[t.Pictures:]}
	case text == "":
		say.Text = GoOn
	}
	next.Saying = say.Text
	if again {
		next.Earlier = slices.Concat(t.Earlier, t.News)
		if t.Heard != "" {
			next.Earlier = append(next.Earlier, News{Text: t.Saying, Mark: t.Heard})
		}
	}
	if t.Native == "" && at > 0 {
		say.Text = transcript(messages[:at]) + say.Text
	}
	return say, next
}

// untold is what of some messages the program was not told, and whether it was told
// anything of them. A message may have grown at its end since.
func (t Thread) untold(parts []string) (rest []string, some bool) {
	told := gap + t.Told + gap
	for _, n := range t.News {
		told += n.Text + gap
	}
	for _, p := range parts {
		was := known(told, p)
		some = some || was != ""
		if left := strings.TrimPrefix(strings.TrimPrefix(p, was), gap); left != "" {
			rest = append(rest, left)
		}
		if was != "" {
			told = strings.Replace(told, gap+was+gap, gap+gap, 1)
		}
	}
	return rest, some
}

// known is the longest beginning of a message that was told, in whole paragraphs.
func known(told, message string) string {
	for {
		if strings.Contains(told, gap+message+gap) {
			return message
		}
		i := strings.LastIndex(message, gap)
		if i <= 0 {
			return ""
		}
		message = message[:i]
	}
}

// gap is between messages that are told as one.
const gap = "\n\n"

// fresh puts together what the program has not heard: what the user says, and
// results that came while it was not there.
func fresh(messages []backend.Message) ([]string, []backend.Image) {
	var parts []string
	var images []backend.Image
	for _, m := range messages {
		if m.From == backend.User && m.Text != "" {
			parts = append(parts, m.Text)
		}
		images = append(images, m.Images...)
		for _, r := range m.Results {
			parts = append(parts, fmt.Sprintf("%s has returned: %s", r.Name, r.Text))
			images = append(images, r.Images...)
		}
	}
	return parts, images
}

// transcript is an earlier conversation in words.
func transcript(messages []backend.Message) string {
	var b strings.Builder
	b.WriteString("This is what was said before, between the user and you. You do not remember it because you were started anew.\n\n<conversation>\n")
	entry := func(who, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "<%s>\n%s\n</%s>\n", who, text, who)
		}
	}
	for _, m := range messages {
		switch m.From {
		case backend.User:
			entry("user", m.Text)
		case backend.Assistant:
			entry("you", m.Text)
			for _, c := range m.Calls {
				entry("you", fmt.Sprintf("(You called %s with %s)", c.Name, c.Input))
			}
		}
		for _, r := range m.Results {
			entry("tool", r.Name+" returned: "+r.Text)
		}
	}
	b.WriteString("</conversation>\n\nGo on from there. This is new:\n\n")
	return b.String()
}

// Load reads what is remembered of a thread in a program's home. Of one that
// stands alone nothing is; what cannot be read is as good as lost.
func Load(home, thread string) (Thread, error) {
	if thread == "" {
		return Thread{}, nil
	}
	p, err := ReadFile(home, file(thread, ".json"), maxLine)
	if errors.Is(err, fs.ErrNotExist) {
		return Thread{}, nil
	}
	if err != nil {
		return Thread{}, broken("read what is remembered of the conversation", err)
	}
	var t Thread
	if json.Unmarshal(p, &t) != nil {
		return Thread{}, nil
	}
	return t, nil
}

// Save remembers a thread, before what it says was told is sent.
func (t Thread) Save(home, thread string) error {
	if thread == "" {
		return nil
	}
	p, err := json.Marshal(t)
	if err == nil {
		err = WriteFile(home, file(thread, ".json"), p)
	}
	if err != nil {
		return broken("remember the conversation", err)
	}
	return nil
}

// file is what is kept of a thread in a program's home. Its name may be any text.
func file(thread, kind string) string {
	sum := sha256.Sum256([]byte(thread))
	return filepath.Join("threads", hex.EncodeToString(sum[:12])+kind)
}
