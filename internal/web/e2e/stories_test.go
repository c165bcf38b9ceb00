package e2e

import "testing"

// A job is described, planned, commented on, edited, revised, approved, carried
// out, explained and corrected without leaving the browser.
//
// IP-05 IP-08 IP-09 IP-10 IP-12 IP-17 IP-18
func TestJobFromDescriptionToResult(t *testing.T) { newStage(t).play(t, "review") }

// Acceptance check 2: a stale revision is refused, a double click and two tabs are
// one decision; what somebody else has changed is shown beside what is lost if it
// is not.
//
// IP-10
func TestTwoTabsAndATerminal(t *testing.T) { newStage(t).play(t, "tabs") }

// IP-07
func TestServerIsKilledUnderAnOpenPage(t *testing.T) { newStage(t).play(t, "restart") }

// Acceptance check 10: seven tabs on one job stay usable.
func TestSevenTabs(t *testing.T) { newStage(t).play(t, "seven") }

// Acceptance check 9: a remote image in plan.md is not asked for; scripts, five
// megabytes and deep nesting are text.
//
// IP-08
func TestHostileFiles(t *testing.T) { newStage(t).play(t, "hostile") }

func TestKeyboardAndNarrowScreens(t *testing.T) { newStage(t).play(t, "reach") }

func TestSessionAndRun(t *testing.T) { newStage(t).play(t, "sessions") }
