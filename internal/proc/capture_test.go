package proc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCapture(t *testing.T) {
	for _, c := range []struct {
		first, last int
		writes      []string
		want        string
	}{
		{4, 4, nil, ""},
		{4, 4, []string{"abc"}, "abc"},
		{4, 4, []string{"abcd", "efgh"}, "abcdefgh"},
		{4, 4, []string{"abcdefghi"}, "abcd\n… 1 bytes left out …\nfghi"},
		{4, 4, []string{"ab", "cdef", "ghijk", "l"}, "abcd\n… 4 bytes left out …\nijkl"},
		{3, 0, []string{"ab\ncd"}, "ab\n… 2 bytes left out …\n"},
		{0, 2, []string{"abc"}, "… 1 bytes left out …\nbc"},
		{0, 0, []string{"abc"}, "… 3 bytes left out …\n"},
		{4, 4, []string{"aé日本語z"}, "aé\n… 5 bytes left out …\n語z"},
		{2, 2, []string{"日本"}, "… 2 bytes left out …\n"},
		{9, 0, []string{"a\xffb"}, "a\uFFFDb"},
	} {
		k := NewCapture(c.first, c.last)
		for _, s := range c.writes {
			if n, err := k.Write([]byte(s)); n != len(s) || err != nil {
				t.Fatalf("writing %q says %d, %v", s, n, err)
			}
		}
		if got := k.String(); got != c.want {
			t.Errorf("first %d, last %d of %q is %q, want %q", c.first, c.last, c.writes, got, c.want)
		}
	}
}

// Whatever is written in whatever pieces, it is the first and the last bytes
// that are kept, and no more.
func TestCaptureKeepsTheEnds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		k := NewCapture(r.IntN(20), r.IntN(20))
		var all []byte
		for range r.IntN(10) {
			b := make([]byte, r.IntN(30))
			for i := range b {
				b[i] = byte('a' + r.IntN(26))
			}
			all = append(all, b...)
			_, _ = k.Write(b)
		}
		head := all[:min(len(all), k.first)]
		rest := all[len(head):]
		tail := rest[max(0, len(rest)-k.last):]
		want := string(head) + string(tail)
		if gap := len(rest) - len(tail); gap > 0 {
			nl := "\n"
			if len(head) == 0 {
				nl = ""
			}
			want = string(head) + nl + fmt.Sprintf("… %d bytes left out …\n", gap) + string(tail)
			if k.Omitted() != int64(gap) {
				t.Fatalf("%d are said to be left out, not %d", k.Omitted(), gap)
			}
		}
		if got := k.String(); got != want || k.Total() != int64(len(all)) {
			t.Fatalf("first %d, last %d of %q is %q, want %q", k.first, k.last, all, got, want)
		}
		if cap(k.head) > 64 || cap(k.tail) > 64 {
			t.Fatalf("it holds %d and %d bytes", cap(k.head), cap(k.tail))
		}
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("naïve 日本語 \xff\xfe"), 3, 4)
	f.Fuzz(func(t *testing.T, b []byte, first, last int) {
		k := NewCapture(min(first, 1<<10), min(last, 1<<10))
		_, _ = k.Write(b)
		if s := k.String(); !utf8.ValidString(s) {
			t.Errorf("%q is not valid", s)
		}
		if k.Omitted() == 0 && utf8.Valid(b) && k.String() != string(b) {
			t.Errorf("%q became %q", b, k)
		}
	})
}

func BenchmarkCapture(b *testing.B) {
	k := NewCapture(1<<14, 1<<14)
	block := bytes.Repeat([]byte(strings.Repeat("x", 63)+"\n"), 512)
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		_, _ = k.Write(block)
	}
}
