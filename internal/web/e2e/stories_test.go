package e2e

import "testing"

// IP-08 IP-09 IP-10 IP-12 IP-17 IP-18
func TestJobFromDescriptionToResult(t *testing.T) { newStage(t).play(t, "review") }
