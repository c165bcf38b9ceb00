package talk

import (
	"fmt"
	"slices"
	"strings"

	"conclave/internal/event"
)

// judgeCompanion takes what is said to the companion of a job besides talking to
// it: what a job that nobody has begun is to be, which job it is, and which tools
// are at hand.
func (s *Session) judgeCompanion(b event.Body) *verdict {
	if s.s.Started.Kind != event.SessionCompanion {
		return &verdict{code: codeKind, why: "This is not the session of a job's companion."}
	}
	switch b := b.(type) {
	case event.Outlined:
		switch {
		case s.s.Job != "":
			return &verdict{code: codeAlready, why: fmt.Sprintf("The job is begun, it is %s. What else is wanted of it is said to the job.", s.s.Job)}
		case strings.TrimSpace(b.Title) == "" && blank(b.Description) && blank(b.Instructions):
			return &verdict{code: codeEmpty, why: "The outline says nothing."}
		}
	case event.Linked:
		switch {
		case b.Job == "":
			return &verdict{code: codeEmpty, why: "It is not said which job."}
		case s.s.Job != "":
			return &verdict{code: codeAlready, why: fmt.Sprintf("This session is about %s already.", s.s.Job)}
		}
	case event.Tiered:
		return judgeTier(b)
	}
	return nil
}

// tiers are those that can be turned on and off, and sets how.
var (
	tiers = []string{event.TierBasic, event.TierResearch, event.TierHistory, event.TierDebug, event.TierPropose, event.TierOutline}
	sets  = []string{"on", "off", "auto"}
)

func judgeTier(b event.Tiered) *verdict {
	switch {
	case !slices.Contains(tiers, b.Tier):
		return &verdict{code: codeTier, why: fmt.Sprintf("There is no tier %q; there are: %s.", b.Tier, strings.Join(tiers, ", "))}
	case !slices.Contains(sets, b.Set):
		return &verdict{code: codeTier, why: fmt.Sprintf("A tier cannot be set to %q, only to on, off or auto.", b.Set)}
	}
	return nil
}
