// Package index finds passages of documents, and rows of a history, by their
// words and by what they mean.
package index
