// Package view folds the events of a flow into what a person sees.
//
// Every surface (command line, terminal, web, MCP) shows these values and keeps
// no state of its own. A fold is a value with an Apply method:
//
//	var card view.Card
//	for _, e := range log {
//		card = card.Apply(e)
//	}
//
// The folds are [Card], the summary of a run; [Ballot], who votes for whom;
// [Timeline], what happened in order; [Cost], what it took; and [Result], which
// gives the [RunResult] a run hands back. To be looked into there are [Answers],
// every revision; [Tasks], the plans that agents keep; [Tools], what they have at
// hand and how it fares; [Messages], what people have said to them; [Shells], what
// they have going in the background; and [Clock], the time that counts. A
// conversation is a [Session], a job a [Job]; [Spend] tells what either has used in
// every way people ask for. [RowOf] makes a row of a list of flows from the two
// ends of a log, [AuditRowOf] one of the audit from an event.
//
// The zero value of a fold is ready to use. Apply returns the new value and
// leaves the old one as it was, so either may be kept, shared and applied to
// again. A fold can be marshalled as JSON, read back and gone on with; that is
// a cache, valid for the program that has the same version constant beside the
// fold. Apply takes any event in any order without failing: a log that was cut,
// or that holds facts of a kind unknown here, gives as much as can be known.
//
// The package does no I/O and has no clock. Text that may be a blob stays an
// [event.Content]; whoever shows it resolves it.
package view

import (
	"fmt"
	"strings"

	"conclave/internal/event"
)

// mode says in words how a run was asked to go.
func mode(s event.RunSpec, r event.Rules) string {
	var b strings.Builder
	b.WriteString(count(len(s.Seats), "agent"))
	switch {
	case r.Quick && r.Single:
		b.WriteString(", one answer")
	case r.Quick:
		b.WriteString(", one answer each")
	default:
		b.WriteString(", refining")
	}
	if r.SkipVoting && !r.Single {
		b.WriteString(", no vote")
	}
	switch {
	case r.Execute:
		b.WriteString(", planning then executing")
	case r.Planning:
		b.WriteString(", planning")
	}
	return b.String()
}

// count is "one agent", "three agents".
func count(n int, noun string) string {
	if n == 1 {
		return "one " + noun
	}
	return number(n) + " " + noun + "s"
}

var numbers = [...]string{
	"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
}

// number is n in words as long as that reads well.
func number(n int) string {
	if n >= 0 && n < len(numbers) {
		return numbers[n]
	}
	return fmt.Sprint(n)
}

// answerName is how an answer is called everywhere: "agent2.3".
func answerName(l event.Label, revision int) string {
	return fmt.Sprintf("%s.%d", l, revision)
}
