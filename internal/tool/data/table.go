package data

import (
	"encoding/csv"
	"fmt"
	"strings"

	"conclave/internal/datasource"
)

// maxShown is how much of a table is shown, in bytes.
const maxShown = 32 << 10

// formats are how a row is written; the first is what is meant by nothing.
var formats = map[string]func([]string) string{
	"":      tableRow,
	"table": tableRow,
	"csv":   csvRow,
}

var inTable = strings.NewReplacer(`\`, `\\`, "|", `\|`, "\r\n", `\n`, "\n", `\n`, "\r", `\n`, "\t", `\t`)

func tableRow(cells []string) string {
	var out []string
	for _, c := range cells {
		out = append(out, datasource.OneLine(inTable.Replace(c)))
	}
	return strings.Join(out, " | ") + "\n"
}

func csvRow(cells []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for i, c := range cells {
		if c == null {
			cells[i] = ""
		}
	}
	_ = w.Write(cells) // a builder takes everything
	w.Flush()
	return b.String()
}

// null is a cell without a value.
const null = "NULL"

func text(c datasource.Cell) string {
	switch {
	case c.Null:
		return null
	case c.Cut > 0:
		return fmt.Sprintf("%s… [%d bytes more]", c.Text, c.Cut)
	}
	return c.Text
}

// render is a table as the model is shown it.
func render(t datasource.Table, row func([]string) string) string {
	if len(t.Rows) == 0 && t.More == 0 {
		if len(t.Columns) == 0 {
			return "It was run, and returns no rows.\n"
		}
		return "No rows. The columns are: " + tableRow(t.Columns)
	}
	var out strings.Builder
	out.WriteString(row(t.Columns))
	shown := 0
	for _, r := range t.Rows {
		var cells []string
		for _, c := range r {
			cells = append(cells, text(c))
		}
		line := row(cells)
		if shown > 0 && out.Len()+len(line) > maxShown {
			break
		}
		out.WriteString(line)
		shown++
	}
	more := t.More + len(t.Rows) - shown
	switch {
	case t.Endless:
		fmt.Fprintf(&out, "[%s; more than %d more. Narrow the statement, or let the database count and group.]\n", rows(shown), more)
	case more > 0:
		fmt.Fprintf(&out, "[%s; %d more. Narrow the statement, or read on with OFFSET or SKIP.]\n", rows(shown), more)
	default:
		fmt.Fprintf(&out, "[%s]\n", rows(shown))
	}
	return out.String()
}

func rows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}
