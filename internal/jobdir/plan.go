package jobdir

import (
	"regexp"
	"strings"
	"sync"

	"conclave/internal/event"
)

var (
	heading = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*\s*$`) })
	item    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(.*)$`) })
	row     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\|(.*)\|?\s*$`) })
	ruler   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\s|:-]+$`) })
	asked   = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:\*\*)?(?i:q(?:uestion)?\s*\d*)\s*[:.)]\s*(?:\*\*)?\s*`)
	})
	fallback = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)[\s(\[*_-]*\bdefault(?: answer)?\b[*_]*\s*[:=]\s*[*_]*(.*?)[)\]]?[*_]*\s*$`)
	})
	phase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)^phase\s+\d+`) })
)

// mostQuestions bounds what a plan asks.
const mostQuestions = 20

// ReadPlan reads from a plan how many phases it speaks of, zero if that cannot be
// told, and the questions it asks: the list under Open questions, each with its
// default in parentheses or on the next line.
func ReadPlan(text string) (phases int, questions []event.Question) {
	var in string // the heading we are under
	var rows, items, heads int
	fenced := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") || strings.HasPrefix(bare, "~~~") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		if h := heading().FindStringSubmatch(line); h != nil {
			title := strings.ToLower(h[2])
			switch {
			case phase().MatchString(title):
				heads++ // and we stay where we are
			case strings.Contains(title, "phase"):
				in = "phases"
			case strings.Contains(title, "question"):
				in = "questions"
			default:
				in = ""
			}
			continue
		}
		switch in {
		case "phases":
			if row().MatchString(bare) && !ruler().MatchString(bare) {
				rows++
			} else if item().MatchString(line) { // not one inside another
				items++
			}
		case "questions":
			questions = ask(questions, line, bare)
		}
	}
	switch {
	case rows > 1:
		phases = rows - 1 // without its head
	case heads > 0:
		phases = heads
	default:
		phases = items
	}
	return phases, questions[:min(len(questions), mostQuestions)]
}

// ask takes in a line under Open questions.
func ask(all []event.Question, line, bare string) []event.Question {
	m := item().FindStringSubmatch(line)
	if m == nil {
		if n := len(all); n > 0 && all[n-1].Default == "" {
			m := item().FindStringSubmatch(bare)
			if m != nil {
				bare = m[1]
			}
			if d := fallback().FindStringSubmatch(bare); d != nil {
				all[n-1].Default = strings.TrimSpace(d[1])
			}
		}
		return all
	}
	q := event.Question{Text: asked().ReplaceAllString(strings.TrimSpace(m[1]), "")}
	if at := fallback().FindStringSubmatchIndex(q.Text); at != nil {
		q.Default = strings.TrimSpace(q.Text[at[2]:at[3]])
		q.Text = strings.TrimSpace(q.Text[:at[0]])
	}
	none := strings.Trim(strings.ToLower(q.Text), ".*_ ")
	if q.Text == "" || none == "none" || none == "no open questions" {
		return all
	}
	q.ID = "q-" + string(event.HashOf([]byte(strings.ToLower(q.Text))))[:8]
	return append(all, q)
}
