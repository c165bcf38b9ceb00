// Package index finds passages of documents, and rows of a history, by their
// words and by what they mean.
//
// An [Index] is one SQLite file, a cache that may be thrown away at any time: a
// file that is damaged or of another version is, and whoever puts documents in
// puts them in again, which costs nothing for those that are there. Documents
// live in spaces (a job is one); nothing that is found in a space comes from
// another.
//
// [Index.Put] cuts a document into passages of some hundred words that know
// their lines and makes their words findable at once. [Index.Embed] gives them
// vectors later, a batch at a time, by any embed.Embedder: a window of forty
// words is embedded once for each model, however often documents change or move.
// [Index.Search] weighs both, says what it could use and why each passage is
// there. [Index.PutRows] and [Index.SearchRows] do the same for numbered rows, by
// words alone.
//
// Several processes may use one file: readers do not wait, writers take turns.
package index

import (
	"context"
	"errors"
)

// A Doc is a document to be found.
type Doc struct {
	Path   string // its name in the space
	Commit string // the version of the workspace it was read from; given back with hits
	Hash   string // of its content; taken of Text if empty
	Text   string
	Kind   Kind // by the ending of Path if empty
}

// A Kind says how a document is cut.
type Kind string

const (
	Markdown Kind = "markdown" // headings begin passages and are part of them
	Text     Kind = "text"
)

// A Mode is how passages are ranked.
type Mode string

const (
	Hybrid   Mode = "hybrid"   // by words and by meaning
	Lexical  Mode = "lexical"  // by words
	Semantic Mode = "semantic" // by meaning
)

// A Query asks for passages.
type Query struct {
	// Queries are one to four wordings of what is looked for. A passage is ranked
	// by how well it fits all of them.
	Queries []string
	Limit   int      // of hits; 10 if 0, at most 50
	Mode    Mode     // Hybrid if empty
	Paths   []string // only documents whose path begins with one of them; all if empty
}

// MaxQueries is how many wordings a Query may have.
const MaxQueries = 4

const (
	defaultLimit = 10
	maxLimit     = 50
)

// ErrNoQuery is what a search for nothing gets.
var ErrNoQuery = errors.New("index: there is nothing to search for: no query has a word in it")

// A Result is what a search found, best first, and how.
type Result struct {
	Hits []Hit
	// Mode is how it was ranked in the end: by words alone if there was no model,
	// no vector yet, or the model could not be asked.
	Mode     Mode
	Coverage Coverage
	// Notes say to whoever reads the hits what was not as they may expect.
	Notes []string
}

// A Hit is a passage.
type Hit struct {
	Path                string
	FirstLine, LastLine int // from 1
	Commit              string
	Kind                Kind
	Heading             string // the headings above the passage: "Plan > Risks"
	Text                string
	Score               float64 // up to 1; only comparable within one result
	Why                 string  // "words: ammonia, permit; meaning 0.61"
}

// Coverage says how much of a space can be found by meaning.
type Coverage struct {
	Windows  int // all there are
	Embedded int // with a vector of the model
	Skipped  int // of documents in a language the model does not know
}

// Done reports whether there is nothing left to embed.
func (c Coverage) Done() bool { return c.Embedded+c.Skipped >= c.Windows }

// Share is how much of what can be embedded is, from 0 to 1.
func (c Coverage) Share() float64 {
	if c.Windows <= c.Skipped {
		return 1
	}
	return float64(c.Embedded) / float64(c.Windows-c.Skipped)
}

// Docs gives the path and hash of every document of a space, so that what is
// gone can be deleted.
func (x *Index) Docs(ctx context.Context, space string) (map[string]string, error) {
	out := map[string]string{}
	err := x.read(ctx, func(db querier) error {
		clear(out)
		return each(ctx, db, func(scan func(...any) error) error {
			var path, hash string
			if err := scan(&path, &hash); err != nil {
				return err
			}
			out[path] = hash
			return nil
		}, "SELECT path, hash FROM docs WHERE space = (SELECT id FROM spaces WHERE name = ?)", space)
	})
	return out, err
}
