package jobdir

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"conclave/internal/event"
	"conclave/internal/git"
)

// todoFile is todos.yaml.
type todoFile struct {
	Phase string     `yaml:"phase,omitempty"`
	Todos []todoLine `yaml:"todos"`
}

type todoLine struct {
	ID      any    `yaml:"id,omitempty"`
	Content string `yaml:"content"`
	Status  string `yaml:"status,omitempty"`
	Note    string `yaml:"note,omitempty"`
}

// Statuses of a todo in todos.yaml.
const (
	statusPending = "pending"
	statusDone    = "completed"
	statusSkip    = "skipped"
)

// mostTodos bounds what is read from one file.
const mostTodos = 200

// ParseTodos reads todos.yaml. Everything that is wrong is said together. A todo
// without an id has its place for one.
func ParseTodos(text []byte) (name string, todos []event.Todo, err error) {
	var f todoFile
	if err := yaml.UnmarshalWithOptions(text, &f, yaml.Strict()); err != nil {
		return "", nil, fmt.Errorf("%s cannot be read: %s", Todos, plainYAML(err))
	}
	var wrong []string
	seen := map[string]int{}
	for i, t := range f.Todos {
		n := i + 1
		out := event.Todo{ID: strconv.Itoa(n), Text: strings.TrimSpace(t.Content), Note: t.Note}
		if t.ID != nil {
			out.ID = strings.TrimSpace(fmt.Sprint(t.ID))
		}
		switch t.Status {
		case "", statusPending, "in_progress":
		case statusDone:
			out.Done = true
		case statusSkip:
			out.Skip = true
		default:
			wrong = append(wrong, fmt.Sprintf("todo %d: its status is %q; it can be %s, %s or %s", n, t.Status, statusPending, statusDone, statusSkip))
		}
		if out.Text == "" {
			wrong = append(wrong, fmt.Sprintf("todo %d has no content", n))
		}
		if out.ID == "" || strings.ContainsAny(out.ID, ",; \t\n") {
			wrong = append(wrong, fmt.Sprintf("todo %d: %q cannot be an id; take a number", n, out.ID))
		}
		if at, twice := seen[out.ID]; twice {
			wrong = append(wrong, fmt.Sprintf("todo %d has the id of todo %d, %s", n, at, out.ID))
		}
		seen[out.ID] = n
		todos = append(todos, out)
	}
	if len(todos) > mostTodos {
		wrong = append(wrong, fmt.Sprintf("there are %d todos; %d is the most", len(todos), mostTodos))
	}
	if len(wrong) > 0 {
		return "", nil, errors.New(Todos + ": " + strings.Join(wrong, "; "))
	}
	return f.Phase, todos, nil
}

// plainYAML is an error of the parser on one line, without the excerpt.
func plainYAML(err error) string {
	return git.FirstLine(yaml.FormatError(err, false, false))
}

// FormatTodos writes todos.yaml.
func FormatTodos(name string, todos []event.Todo) ([]byte, error) {
	f := todoFile{Phase: name, Todos: []todoLine{}}
	for _, t := range todos {
		l := todoLine{ID: t.ID, Content: t.Text, Status: statusPending, Note: t.Note}
		if n, err := strconv.Atoi(t.ID); err == nil {
			l.ID = n
		}
		switch {
		case t.Skip:
			l.Status = statusSkip
		case t.Done:
			l.Status = statusDone
		}
		f.Todos = append(f.Todos, l)
	}
	out, err := yaml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", Todos, err)
	}
	return out, nil
}
