package web

import (
	"strings"
	"unicode"

	"github.com/aymanbagabas/go-udiff"

	"conclave/internal/control"
)

// A diff is what changed, as pages draw it.
type diff struct {
	Files []fileDiff `json:"files"`
}

type fileDiff struct {
	Path   string `json:"path"`
	Old    string `json:"old,omitempty"`
	Kind   string `json:"kind"`
	Binary bool   `json:"binary,omitempty"`
	More   bool   `json:"more,omitempty"`
	Hunks  []hunk `json:"hunks"`
}

type hunk struct {
	Old   int        `json:"old"`
	New   int        `json:"new"`
	Lines []diffLine `json:"lines"`
}

type diffLine struct {
	Op    string `json:"op"`
	Text  string `json:"text"`
	Parts []part `json:"parts,omitempty"`
}

// A part of a line; Mark: it changed.
type part struct {
	Text string `json:"text"`
	Mark bool   `json:"mark,omitempty"`
}

// diffOf adds to a diff which words changed in lines that only changed a little.
func diffOf(files []control.FileDiff) diff {
	out := diff{Files: []fileDiff{}}
	for _, f := range files {
		one := fileDiff{f.Path, f.Old, f.Kind, f.Binary, f.More, []hunk{}}
		for _, h := range f.Hunks {
			one.Hunks = append(one.Hunks, hunk{h.Old, h.New, marked(h.Lines)})
		}
		out.Files = append(out.Files, one)
	}
	return out
}

// marked pairs lines that were taken out with those that were put in their place.
func marked(in []control.DiffLine) []diffLine {
	out := make([]diffLine, len(in))
	for i, l := range in {
		out[i] = diffLine{Op: l.Op, Text: l.Text}
	}
	for i := 0; i < len(out); {
		olds := run(out, i, "-")
		news := run(out, i+olds, "+")
		for k := range min(olds, news) {
			o, n := &out[i+k], &out[i+olds+k]
			o.Parts, n.Parts = words(o.Text, n.Text)
		}
		i += max(olds+news, 1)
	}
	return out
}

// run is how many lines from i on have an op.
func run(lines []diffLine, i int, op string) int {
	n := 0
	for i+n < len(lines) && lines[i+n].Op == op {
		n++
	}
	return n
}

// mostWords and mostLine bound the lines whose words are compared.
const (
	mostWords = 300
	mostLine  = 4 << 10
)

// words marks what differs between two lines; nothing where most does.
func words(old, now string) (o, n []part) {
	if len(old) > mostLine || len(now) > mostLine {
		return nil, nil
	}
	a, b := split(old), split(now)
	if len(a) == 0 || len(b) == 0 || len(a) > mostWords || len(b) > mostWords {
		return nil, nil
	}
	same := common(a, b)
	if len(same)*3 < max(len(a), len(b)) {
		return nil, nil
	}
	inA, inB := make([]bool, len(a)), make([]bool, len(b))
	for _, s := range same {
		inA[s[0]], inB[s[1]] = true, true
	}
	return parts(a, inA), parts(b, inB)
}

// split cuts a line into words, spaces and single signs.
func split(line string) []string {
	var out []string
	class := func(r rune) int {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			return 1
		case unicode.IsSpace(r):
			return 2
		}
		return 3
	}
	from, last := 0, 0
	for i, r := range line {
		c := class(r)
		if i > 0 && (c == 3 || c != last) {
			out = append(out, line[from:i])
			from = i
		}
		last = c
	}
	if line != "" {
		out = append(out, line[from:])
	}
	return out
}

// common is a longest common subsequence, as pairs of places.
func common(a, b []string) [][2]int {
	long := make([][]int, len(a)+1)
	for i := range long {
		long[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				long[i][j] = long[i+1][j+1] + 1
			} else {
				long[i][j] = max(long[i+1][j], long[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case long[i+1][j] >= long[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

func parts(words []string, same []bool) []part {
	var out []part
	for i, w := range words {
		if n := len(out); n > 0 && out[n-1].Mark == !same[i] {
			out[n-1].Text += w
			continue
		}
		out = append(out, part{w, !same[i]})
	}
	return out
}

// compare is the diff between two texts of one file.
func compare(path, old, now string) *diff {
	u, err := udiff.ToUnifiedDiff(path, path, old, udiff.Lines(old, now), 3)
	if err != nil {
		return nil
	}
	f := control.FileDiff{Path: path, Kind: "changed"}
	if old == "" {
		f.Kind = "added"
	}
	ops := map[udiff.OpKind]string{udiff.Delete: "-", udiff.Insert: "+", udiff.Equal: " "}
	for _, h := range u.Hunks {
		one := control.Hunk{Old: h.FromLine, New: h.ToLine}
		for _, l := range h.Lines {
			one.Lines = append(one.Lines, control.DiffLine{Op: ops[l.Kind], Text: strings.TrimSuffix(l.Content, "\n")})
		}
		f.Hunks = append(f.Hunks, one)
	}
	d := diffOf([]control.FileDiff{f})
	return &d
}
