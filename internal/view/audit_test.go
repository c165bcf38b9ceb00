package view_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"conclave/internal/event"
	"conclave/internal/view"
)

// auditText is a log as the audit lists it.
func auditText(log []event.Event) string {
	var b strings.Builder
	for _, e := range log {
		r := view.AuditRowOf(e)
		fmt.Fprintf(&b, "%3d %-8s %-8s %s", r.Seq, r.Group, r.Agent, r.Title)
		if r.Preview != "" {
			b.WriteString(": " + view.Shorten(r.Preview, 80))
		}
		if r.Tokens > 0 {
			fmt.Fprintf(&b, " [%d tokens, %s]", r.Tokens, r.Cost)
		}
		if r.Error {
			b.WriteString(" !")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Every kind of the vocabulary has a row with a title of its own.
func TestEveryKindHasAnAuditRow(t *testing.T) {
	groups := map[view.AuditGroup]bool{}
	for _, k := range event.Kinds() {
		b, err := event.DecodeBody(k, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r := view.AuditRowOf(event.Event{Flow: "f", Seq: 7, Fact: event.Fact{ID: k, Agent: "ada", Body: b}})
		if r.Title == "" || strings.Contains(r.Title, "cannot be shown") || r.Kind != k || r.Seq != 7 || r.Agent != "ada" {
			t.Errorf("%s: %+v", k, r)
		}
		groups[r.Group] = true
	}
	if len(groups) != 6 {
		t.Errorf("groups: %v", groups)
	}
	if r := view.AuditRowOf(event.Event{}); r.Title == "" {
		t.Error("an event without a body has no title")
	}
}

// stuff fills every string of a value with long text that is costly as JSON.
func stuff(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Struct:
		if c, ok := v.Addr().Interface().(*event.Content); ok {
			*c = event.Inline(text)
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				stuff(v.Field(i), text)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`"` + strings.Repeat("<", 50_000) + `"`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		for i := range 3 {
			stuff(v.Index(i), text)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		stuff(v.Elem(), text)
	}
}

// A page of 200 rows is less than a megabyte whatever the events hold, of any
// kind. IP-16
func TestAuditPageIsSmall(t *testing.T) {
	const rows, limit = 200, 1 << 20
	text := strings.Repeat("<&>\x1b[31m  long ", 10_000)
	for _, k := range event.Kinds() {
		b, err := event.DecodeBody(k, []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		v := reflect.New(reflect.TypeOf(b)).Elem()
		stuff(v, text)
		e := event.Event{Flow: "job-20260301-090000-aaaa", Seq: 1e9, Pos: 1e12, At: time.Unix(1e9, 999), Fact: event.Fact{Agent: "planner", Body: v.Interface().(event.Body)}}
		r := view.AuditRowOf(e)
		p, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(p)*rows > limit {
			t.Errorf("%s: a row has %d bytes, a page %d", k, len(p), len(p)*rows)
		}
		if n := len([]rune(r.Preview)); n > view.AuditPreviewWidth {
			t.Errorf("%s: a preview of %d characters", k, n)
		}
	}
	r := view.AuditRowOf(event.Event{Fact: event.Fact{Body: event.Unknown{Kind: text, Raw: []byte(text)}}})
	if p, _ := json.Marshal(r); len(p)*rows > limit {
		t.Errorf("of an unknown kind: %d bytes", len(p))
	}
}

// A filter by errors finds tools that failed as well.
func TestAuditGroups(t *testing.T) {
	failed := view.AuditRowOf(event.Event{Fact: event.Fact{Body: event.ToolReturned{Name: "shell", Error: true}}})
	for _, c := range []struct {
		groups []view.AuditGroup
		want   bool
	}{
		{nil, true},
		{[]view.AuditGroup{view.AuditTool}, true},
		{[]view.AuditGroup{view.AuditError}, true},
		{[]view.AuditGroup{view.AuditModel, view.AuditPerson}, false},
	} {
		if got := failed.In(c.groups); got != c.want {
			t.Errorf("in %v: %v", c.groups, got)
		}
	}
}
