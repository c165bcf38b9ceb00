package index

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"conclave/internal/embed"
	"conclave/internal/embed/embedtest"
)

const plan = `# Plan

## Costs
We compare the costs of three offers.

## Risks
The permit for ammonia may come late.
`

// A hit carries path, lines, commit and why it is there.
func TestHits(t *testing.T) {
	x := open(t)
	put(t, x, "job", Doc{Path: "plan.md", Commit: "abc123", Text: plan}, Doc{Path: "notes.txt", Text: "Nothing about it."})
	got := find(t, x, "job", embed.None, Hybrid, "ammonia permits?")
	if len(got.Hits) != 1 || got.Hits[0].Score < 0.5 || got.Hits[0].Score > 1 {
		t.Fatalf("%+v", got)
	}
	got.Hits[0].Score = 1
	want := Result{Mode: Lexical, Coverage: Coverage{Windows: 3, Skipped: 3}, Hits: []Hit{{
		Path: "plan.md", FirstLine: 6, LastLine: 7, Commit: "abc123", Kind: Markdown, Heading: "Plan",
		Text: "## Risks\nThe permit for ammonia may come late.", Score: 1, Why: "words: permit, ammonia",
	}}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// What was put in is found by words at once, by meaning once it is embedded, and
// the result says which it was.
func TestWordsAtOnceMeaningLater(t *testing.T) {
	x, e := open(t), fake()
	put(t, x, "job", Doc{Path: "a.md", Text: "The price of steel rose."}, Doc{Path: "b.md", Text: "Birds sing at dawn."})
	r := find(t, x, "job", e, Hybrid, "expenses")
	if r.Mode != Lexical || len(r.Hits) != 0 || len(r.Notes) != 1 {
		t.Errorf("before: %+v", r)
	}
	if r := find(t, x, "job", e, Hybrid, "steel"); places(r) != "a.md:1-1" {
		t.Errorf("by words: %+v", r)
	}
	c, err := x.Embed(t.Context(), "job", e, 1)
	if want := (Coverage{Windows: 2, Embedded: 1}); err != nil || c != want || c.Done() || c.Share() != 0.5 {
		t.Errorf("after one: %+v, %v", c, err)
	}
	if c := embedAll(t, x, "job", e); c.Embedded != 2 || c.Share() != 1 {
		t.Errorf("after all: %+v", c)
	}
	r = find(t, x, "job", e, Hybrid, "expenses")
	if r.Mode != Hybrid || places(r) != "a.md:1-1" || !strings.HasPrefix(r.Hits[0].Why, "meaning 0.") || len(r.Notes) != 0 {
		t.Errorf("after: %+v", r)
	}
	if r := find(t, x, "job", e, Hybrid, "price"); !strings.HasPrefix(r.Hits[0].Why, "words: price; meaning 0.") {
		t.Errorf("both: %+v", r)
	}
	if r := find(t, x, "job", e, Lexical, "expenses"); r.Mode != Lexical || len(r.Hits) != 0 {
		t.Errorf("by words alone: %+v", r)
	}
	if r := find(t, x, "job", e, Semantic, "price"); r.Mode != Semantic || strings.Contains(r.Hits[0].Why, "words") {
		t.Errorf("by meaning alone: %+v", r)
	}
}

// A window is embedded once, wherever and however often it is put in.
func TestNothingIsEmbeddedTwice(t *testing.T) {
	x, e := open(t), fake()
	long := strings.Repeat("Another paragraph about the weather of that day.\n\n", 60)
	put(t, x, "one", Doc{Path: "a.md", Text: plan + "\n" + long})
	embedAll(t, x, "one", e)
	n := len(e.Asked())
	put(t, x, "one", Doc{Path: "a.md", Text: "# Title\n\n" + "New at the top.\n\n" + plan + "\n" + long}, Doc{Path: "moved.md", Text: plan})
	put(t, x, "two", Doc{Path: "other.md", Text: plan})
	embedAll(t, x, "one", e)
	embedAll(t, x, "two", e)
	if again := len(e.Asked()) - n; again > 3 {
		t.Errorf("%d windows were embedded for one paragraph that is new: %q", again, e.Asked()[n:])
	}
	n = len(e.Asked())
	other := &embedtest.Fake{Name: "other"}
	if c, _ := x.Coverage(t.Context(), "two", other); c.Embedded != 0 {
		t.Errorf("vectors of one model count for another: %+v", c)
	}
	embedAll(t, x, "two", other)
	if len(e.Asked()) != n || len(other.Asked()) != 2 {
		t.Errorf("asked %d and %d", len(e.Asked())-n, len(other.Asked()))
	}
}

func TestUnchangedCostsNothing(t *testing.T) {
	x := open(t)
	d := Doc{Path: "plan.md", Commit: "1", Text: plan}
	if n := put(t, x, "job", d); n != 1 {
		t.Errorf("%d changed", n)
	}
	changes := func() (n int64) {
		if err := x.db.QueryRow("SELECT gen FROM spaces").Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := changes()
	if n := put(t, x, "job", d, d); n != 0 || changes() != before {
		t.Errorf("%d changed, written %d times", n, changes()-before)
	}
	d.Commit = "2"
	if n := put(t, x, "job", d); n != 0 || find(t, x, "job", embed.None, "", "ammonia").Hits[0].Commit != "2" {
		t.Errorf("a new commit of the same content: %d changed", n)
	}
	d.Text += "And one thing more.\n"
	if n := put(t, x, "job", d); n != 1 || len(find(t, x, "job", embed.None, "", "ammonia").Hits) != 1 {
		t.Errorf("%d changed", n)
	}
}

// Nothing crosses from one space into another.
func TestSpacesAreApart(t *testing.T) {
	x, e := open(t), fake()
	for _, space := range []string{"a", "b", `b" OR space : s1`, ""} {
		put(t, x, space, Doc{Path: "p.md", Text: "The price of " + space + " secret steel."}, Doc{Path: space + ".md", Text: "More of the vehicle."})
		embedAll(t, x, space, e)
		if err := x.PutRows(t.Context(), space, Row{Seq: 1, Title: "price", Text: "steel of " + space}); err != nil {
			t.Fatal(err)
		}
	}
	for _, space := range []string{"a", "b"} {
		for _, mode := range []Mode{Lexical, Semantic, Hybrid} {
			for _, q := range []string{"steel", "expenses automobile", `steel" OR space : "s1`, "s1 s2 space"} {
				for _, h := range find(t, x, space, e, mode, q).Hits {
					if h.Path != "p.md" && h.Path != space+".md" || h.Path == "p.md" && !strings.Contains(h.Text, "of "+space+" secret") {
						t.Errorf("%s %s in %s: %+v", mode, q, space, h)
					}
				}
			}
		}
		rows, err := x.SearchRows(t.Context(), space, "steel s1 s2", 10)
		if err != nil || len(rows) != 1 || rows[0].Preview != "steel of "+space {
			t.Errorf("rows of %s: %+v, %v", space, rows, err)
		}
	}
	if r := find(t, x, "c", e, Hybrid, "steel"); len(r.Hits) != 0 {
		t.Errorf("a space that is not there has %+v", r)
	}
	if err := x.Drop(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if r := find(t, x, "a", e, Hybrid, "steel price"); len(r.Hits) != 0 || r.Coverage.Windows != 0 {
		t.Errorf("dropped: %+v", r)
	}
	if r := find(t, x, "b", e, Hybrid, "expenses"); r.Mode != Hybrid || places(r) != "p.md:1-1" {
		t.Errorf("the other one: %+v", r)
	}
	if n, err := x.LastRow(t.Context(), "a"); n != 0 || err != nil {
		t.Errorf("rows of what was dropped: %d, %v", n, err)
	}
}

func TestDelete(t *testing.T) {
	x, e := open(t), fake()
	put(t, x, "job", Doc{Path: "a.md", Hash: "h", Text: plan}, Doc{Path: "b.md", Text: plan})
	embedAll(t, x, "job", e)
	find(t, x, "job", e, Hybrid, "price") // the vectors are in memory
	if err := x.Delete(t.Context(), "job", "a.md", "none.md"); err != nil {
		t.Fatal(err)
	}
	if r := find(t, x, "job", e, Hybrid, "price ammonia"); strings.Contains(places(r), "a.md") || !strings.Contains(places(r), "b.md") {
		t.Errorf("found %s", places(r))
	}
	docs, err := x.Docs(t.Context(), "job")
	if err != nil || len(docs) != 1 || docs["b.md"] == "" {
		t.Errorf("documents %v, %v", docs, err)
	}
	if err := x.Delete(t.Context(), "no such job", "a.md"); err != nil {
		t.Error(err)
	}
}

func TestPathsAndLimit(t *testing.T) {
	x, e := open(t), fake()
	put(t, x, "job", Doc{Path: "docs/a.md", Text: "the price"}, Doc{Path: "docs/b.md", Text: "the costs"}, Doc{Path: "src/c.md", Text: "the price"})
	embedAll(t, x, "job", e)
	for _, mode := range []Mode{Lexical, Semantic, Hybrid} {
		r, err := x.Search(t.Context(), "job", e, Query{Queries: []string{"price"}, Mode: mode, Paths: []string{"src/", "none/"}})
		if err != nil || places(r) != "src/c.md:1-1" {
			t.Errorf("%s: %s, %v", mode, places(r), err)
		}
		r, err = x.Search(t.Context(), "job", e, Query{Queries: []string{"price"}, Mode: mode, Limit: 1})
		if err != nil || len(r.Hits) != 1 {
			t.Errorf("%s: %s, %v", mode, places(r), err)
		}
	}
}

// Several wordings find what one of them alone would not put first.
func TestSeveralQueries(t *testing.T) {
	x := open(t)
	put(t, x, "job", Doc{Path: "a.md", Text: "The warranty ends when the software is changed."}, Doc{Path: "b.md", Text: "Somebody changed the tyres."}, Doc{Path: "c.md", Text: "A guarantee of five years."})
	r := find(t, x, "job", embed.None, Hybrid, "void guarantee", "warranty software", "warranty ends")
	if !strings.HasPrefix(places(r), "a.md:1-1 c.md:1-1") {
		t.Errorf("found %s", places(r))
	}
	r = find(t, x, "job", embed.None, Hybrid, "tyres", "tyres", "tyres", "tyres", "warranty")
	if places(r) != "b.md:1-1" || len(r.Notes) != 1 || r.Notes[0] != "only the first 4 of 5 queries were used" {
		t.Errorf("found %s, %q", places(r), r.Notes)
	}
	if _, err := x.Search(t.Context(), "job", embed.None, Query{Queries: []string{"", " ?! "}}); !errors.Is(err, ErrNoQuery) {
		t.Errorf("nothing: %v", err)
	}
}

// A model that does not answer leaves a search by words.
func TestModelThatFails(t *testing.T) {
	x, e := open(t), fake()
	put(t, x, "job", Doc{Path: "a.md", Text: "The price of steel."})
	embedAll(t, x, "job", e)
	e.Err = errors.New("connection refused")
	r := find(t, x, "job", e, Semantic, "steel")
	if r.Mode != Lexical || places(r) != "a.md:1-1" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "connection refused") {
		t.Errorf("%+v", r)
	}
	put(t, x, "job", Doc{Path: "b.md", Text: "The price of gold."})
	if c, err := x.Embed(t.Context(), "job", e, 8); !errors.Is(err, e.Err) || c != (Coverage{Windows: 2, Embedded: 1}) {
		t.Errorf("%+v, %v", c, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Search(ctx, "job", embed.None, Query{Queries: []string{"steel"}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	e.Err = nil
	if c := embedAll(t, x, "job", e); c.Embedded != 2 {
		t.Errorf("when it is back: %+v", c)
	}
	if r := find(t, x, "job", embed.None, Semantic, "steel"); r.Mode != Lexical || len(r.Notes) != 1 {
		t.Errorf("without a model: %+v", r)
	}
}

// english is a model that knows English alone.
type english struct{ *embedtest.Fake }

func (english) English() bool { return true }

func TestOtherLanguages(t *testing.T) {
	x, e := open(t), english{fake()}
	german := "Die Lieferzeit beträgt vierzehn Wochen, und der Preis ist nicht verhandelbar. Die Anlage wird mit dem Kran auf das Dach gesetzt."
	put(t, x, "job", Doc{Path: "de.md", Text: german}, Doc{Path: "en.md", Text: "The price of steel, and what the crane does."})
	if c := embedAll(t, x, "job", e); c != (Coverage{Windows: 2, Embedded: 1, Skipped: 1}) || len(e.Asked()) != 1 {
		t.Errorf("%+v", c)
	}
	r := find(t, x, "job", e, Hybrid, "Lieferzeit Kran")
	if places(r) != "de.md:1-1" || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "documents in other languages were searched by words") || r.Hits[0].Why != "words: lieferzeit, kran" {
		t.Errorf("%+v", r)
	}
	r = find(t, x, "job", e, Hybrid, "wie hoch ist der Preis und die Lieferzeit")
	if r.Mode != Lexical || places(r) != "de.md:1-1" || !strings.Contains(r.Notes[1], "the query is in another language") {
		t.Errorf("%+v", r)
	}
	// A model that does not say so is taken to know it.
	if c := embedAll(t, x, "job", fake()); c != (Coverage{Windows: 2, Embedded: 2}) {
		t.Errorf("%+v", c)
	}
}

func TestLanguage(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                 false,
		"The plan is to compare":           false,
		"for i := range n { sum += x[i] }": false,
		"a;b;c\n1;2;3":                     false,
		"Der Vertrag kann mit einer Frist von drei Monaten gekündigt werden":         true,
		"Le contrat peut être résilié avec un préavis de trois mois par les parties": true,
		"El contrato se puede rescindir con una antelación de tres meses":            true,
		"契約は三か月前の通知により解約できる":                                                         true,
		"Договор может быть расторгнут":                                              true,
		"The German word is Lieferzeit, and der Preis is the price of the plant":     false,
		"Avtalet kan sägas upp med tre månader och det är inte bindande":             true,
	} {
		if got := otherLanguage(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
