package price

import (
	"strings"
	"testing"
)

// Every row of the table makes sense, and there is one for each model.
func TestTable(t *testing.T) {
	n := 0
	for section, rows := range table() {
		seen := map[string]bool{}
		for _, e := range rows {
			n++
			p := e.Price
			switch {
			case seen[e.Name]:
				t.Errorf("%s: %s is there twice", section, e.Name)
			case p.Input <= 0 || p.Output < p.Input || p.Output > 1000:
				t.Errorf("%s: %s costs %+v", section, e.Name, p)
			case p.Cached != nil && *p.Cached > p.Input || p.Stored != nil && *p.Stored < p.Input:
				t.Errorf("%s: the cache of %s costs %v and %v", section, e.Name, *p.Cached, p.Stored)
			case e.Window < 8_000 || e.MaxOutput > e.Window:
				t.Errorf("%s: %s has a window of %d and replies of %d", section, e.Name, e.Window, e.MaxOutput)
			case e.Long != nil && (e.Long.Input < p.Input || e.Long.Output < p.Output || e.LongOver > e.Window):
				t.Errorf("%s: a long prompt of %s costs %+v", section, e.Name, *e.Long)
			}
			seen[e.Name] = true
		}
	}
	if n < 100 {
		t.Errorf("only %d models", n)
	}
	if !strings.Contains(written, "as of "+AsOf+", in US dollars") {
		t.Errorf("the table does not say that it is of %s", AsOf)
	}
}

func TestParse(t *testing.T) {
	for _, bad := range []string{"m 1 2 - - 8 8", "[a]\nm 1 2", "[a]\nm 1 2 - - 8 x", "[a]\nm 1 2 - - 8 8 1"} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%q is a table", bad)
		}
	}
}
