package agent

import (
	"maps"
	"slices"

	"conclave/internal/tool"
)

// JobTools are the tools that the agent of a job has in a phase that plans, or in
// one that carries out, given those of its kit and its bench. They are to be
// described, and not to be run.
func JobTools(all []tool.Tool, planning bool) []tool.Tool {
	t := &turn{agent: &Agent{}, hand: empty{}}
	t.phase = &phase{t: t, strategic: planning, comments: true}
	t.furnish(Bench{Tools: all})
	var out []tool.Tool
	for _, name := range slices.Sorted(maps.Keys(t.tools)) {
		out = append(out, t.tools[name])
	}
	return out
}
