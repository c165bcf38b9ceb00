package index

import (
	"slices"
	"strings"
	"testing"

	"conclave/internal/embed"
)

func TestTerms(t *testing.T) {
	for query, want := range map[string]string{
		"What is the price of the permit?": "price permit",
		"to be or not to be":               "to be or not",
		`"R-449A" (docs/plan.md)`:          "r-449a docs/plan.md",
		"Price, price; PRICE!":             "price",
		"— ?! …":                           "",
		"über 12 °C":                       "über 12 c",
		"don't":                            "don't",
	} {
		if got := strings.Join(terms(query), " "); got != want {
			t.Errorf("%q: %q, want %q", query, got, want)
		}
	}
	if n := len(terms(strings.Join(strings.Fields(strings.Repeat("a1 b2 c3 ", 100)), "x "))); n > maxTerms {
		t.Errorf("%d terms", n)
	}
}

// Words are found by their stem, with and without accents, and as phrases where
// signs are in them.
func TestWords(t *testing.T) {
	x := open(t)
	put(t, x, "job", Doc{Path: "a.md", Text: "Compressors of R-449A were installed in the café by query_costs()."}, Doc{Path: "b.md", Text: "R and 449A apart; costs of a query."})
	for query, want := range map[string]string{
		"installing a compressor": "a.md:1-1",
		"cafe":                    "a.md:1-1",
		"r-449a":                  "a.md:1-1",
		"QUERY_COSTS":             "a.md:1-1",
		"of the a":                "a.md:1-1 b.md:1-1",
		"refrigerant":             "",
	} {
		got := strings.Fields(places(find(t, x, "job", embed.None, Lexical, query)))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q found %q, want %q", query, got, want)
		}
	}
}

// No text of a user's is syntax, whatever it is.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"steel", `"`, `steel" OR "x`, "NEAR(a b, 2)", "a AND NOT b", "space : s1", "*", "^a", "a*", "{a b} : c", "col:", "(", "\x00", "'; DROP TABLE words; --", "\xff\xfe", "日本語", "a\u0301", "\u00ad", "₂", "\U000F0000", "-", `""""`} {
		f.Add(s)
	}
	x := open(f)
	put(f, x, "job", Doc{Path: "a.md", Text: "The price of steel."})
	put(f, x, "other", Doc{Path: "secret.md", Text: "Another price of steel, NEAR OR AND NOT space s1 s2."})
	if err := x.PutRows(f.Context(), "other", Row{Seq: 7, Title: "secret", Text: "steel NEAR OR AND NOT space s1 s2"}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r, err := x.Search(t.Context(), "job", embed.None, Query{Queries: []string{query}})
		if err != nil && err != ErrNoQuery {
			t.Errorf("%q: %v", query, err)
		}
		if strings.Contains(places(r), "secret") {
			t.Errorf("%q found %s", query, places(r))
		}
		rows, err := x.SearchRows(t.Context(), "job", query, 10)
		if err != nil && err != ErrNoQuery || len(rows) != 0 {
			t.Errorf("%q: %v, %v", query, rows, err)
		}
	})
}
