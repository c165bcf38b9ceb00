package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	x := open(t)
	if n, err := x.LastRow(t.Context(), "job"); n != 0 || err != nil {
		t.Errorf("without any: %d, %v", n, err)
	}
	if hits, err := x.SearchRows(t.Context(), "job", "anything", 0); len(hits) != 0 || err != nil {
		t.Errorf("without any: %v, %v", hits, err)
	}
	var rows []Row
	for i := range 200 {
		rows = append(rows, Row{Seq: uint64(i + 1), Title: "tool read_file", Text: fmt.Sprintf("step %d read some lines", i+1)})
	}
	rows[149].Text = strings.Repeat("before it ", 100) + "the database was\nlocked by another process " + strings.Repeat("after it ", 100)
	rows[20].Title = "tool query_costs failed"
	if err := x.PutRows(t.Context(), "job", rows...); err != nil {
		t.Fatal(err)
	}
	if n, err := x.LastRow(t.Context(), "job"); n != 200 || err != nil {
		t.Errorf("last %d, %v", n, err)
	}
	hits, err := x.SearchRows(t.Context(), "job", "why was the database locked?", 5)
	if err != nil || len(hits) != 1 || hits[0].Seq != 150 || hits[0].Title != "tool read_file" {
		t.Fatalf("%+v, %v", hits, err)
	}
	var matched []string
	for _, m := range hits[0].Match {
		matched = append(matched, hits[0].Preview[m[0]:m[1]])
	}
	if d := cmp.Diff([]string{"database", "locked"}, matched); d != "" || !strings.Contains(hits[0].Preview, "the database was locked by another process") || len(hits[0].Preview) > 450 {
		t.Errorf("%q %s", hits[0].Preview, d)
	}
	if hits, err = x.SearchRows(t.Context(), "job", "failures of query_costs", 5); err != nil || len(hits) == 0 || hits[0].Seq != 21 || hits[0].Preview != "step 21 read some lines" || hits[0].Match != nil {
		t.Errorf("%+v, %v", hits, err)
	}
	if hits, err = x.SearchRows(t.Context(), "job", "lines", 7); err != nil || len(hits) != 7 {
		t.Errorf("%d hits, %v", len(hits), err)
	}
	// A row that is put in again replaces itself.
	if err := x.PutRows(t.Context(), "job", Row{Seq: 150, Title: "t", Text: "nothing"}); err != nil {
		t.Fatal(err)
	}
	if hits, err = x.SearchRows(t.Context(), "job", "database locked", 5); err != nil || len(hits) != 0 {
		t.Errorf("%+v, %v", hits, err)
	}
}

// A preview is a short line, whatever is in the row.
func TestPreviews(t *testing.T) {
	x := open(t)
	for i, text := range []string{
		strings.Repeat("x", maxRow) + " needle",
		"needle " + strings.Repeat("y", 10_000),
		strings.Repeat("z", 10_000) + " needle " + strings.Repeat("é", 10_000),
		"\x02 \x03 needle \x02\x00\xff",
		strings.Repeat("needle ", 1000),
	} {
		if err := x.PutRows(t.Context(), "job", Row{Seq: uint64(i + 1), Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	hits, err := x.SearchRows(t.Context(), "job", "needle", 10)
	if err != nil || len(hits) != 4 { // the first lies beyond what is looked at of a row
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	for _, h := range hits {
		if len(h.Preview) > maxPreview+10 || len(h.Match) == 0 || strings.ContainsAny(h.Preview, "\x02\x03\x00\n") {
			t.Errorf("row %d: %d bytes, %d matches", h.Seq, len(h.Preview), len(h.Match))
		}
		for _, m := range h.Match {
			if h.Preview[m[0]:m[1]] != "needle" {
				t.Errorf("row %d: %q is marked", h.Seq, h.Preview[m[0]:m[1]])
			}
		}
	}
}
