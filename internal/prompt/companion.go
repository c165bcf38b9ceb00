package prompt

import (
	"embed"
	"fmt"
	"strings"
)

// A Stage is where the job of a companion stands.
type Stage string

// The stages of a job, as its companion sees them.
const (
	StagePreJob     Stage = "pre-job"
	StagePlanReview Stage = "plan-review"
	StageExecution  Stage = "mid-execution"
	StageResult     Stage = "result-review"
	StagePostMortem Stage = "post-mortem"
)

// Stages are all of them, in the order of a job's life.
var Stages = []Stage{StagePreJob, StagePlanReview, StageExecution, StageResult, StagePostMortem}

// CompanionIn is everything the prompt of a job's companion depends on.
type CompanionIn struct {
	Stage Stage
	// Title, Description and Instructions are those of the job, or of the one
	// that is being outlined.
	Title, Description, Instructions string
	// State says in a line or several how the job stands.
	State string
	// Documents and Sources are what it was given.
	Documents, Sources []string
	// Tiers are the tools at hand, by what they are for.
	Tiers []Tier
	// Commit is the newest of the workspace.
	Commit string
	// Model is which one speaks; Extra the companion's own configured prompt.
	Model, Extra string
	// Fence is as that of a [TalkIn].
	Fence string
}

// A Tier is a set of tools, and why it is there.
type Tier struct {
	Name, Why string
	Tools     []string
}

//go:embed companion/*.md
var companionFiles embed.FS

// CompanionSystem is the system prompt of a job's companion. It follows the stage
// and what tools there are.
func CompanionSystem(in CompanionIn) string {
	parts := []string{companionFile("identity"), companionFile("material")}
	if strings.TrimSpace(in.Extra) != "" {
		parts = append(parts, identity(TalkIn{Extra: in.Extra}))
	}
	if f := family(in.Model); f != "" {
		parts = append(parts, f)
	}
	parts = append(parts, companionFile(string(in.Stage)))
	if len(in.Tiers) > 0 {
		parts = append(parts, tiers(in.Tiers))
	}
	return strings.Join(append(parts, companionJob(in)), "\n\n") + "\n"
}

func companionFile(name string) string {
	text, err := companionFiles.ReadFile("companion/" + name + ".md")
	if err != nil {
		panic(err) // a stage without a file
	}
	return strings.TrimSpace(string(text))
}

func tiers(all []Tier) string {
	var b strings.Builder
	b.WriteString("# Your tools\n\nAll of them are about this job and no other; others than these are not at hand now.\n")
	for _, t := range all {
		fmt.Fprintf(&b, "\n- %s", t.Name)
		if t.Why != "" {
			fmt.Fprintf(&b, " (%s)", oneLine(t.Why))
		}
		fmt.Fprintf(&b, ": %s", strings.Join(t.Tools, ", "))
	}
	return b.String()
}

// companionJob is what is known of the job without looking.
func companionJob(in CompanionIn) string {
	var b strings.Builder
	b.WriteString("# The job\n\n")
	if in.Title != "" {
		fmt.Fprintf(&b, "It is called %q. ", oneLine(in.Title))
	}
	if in.Stage == StagePreJob {
		b.WriteString("As it is outlined so far")
	} else {
		b.WriteString("What the person wants of it")
	}
	if strings.TrimSpace(in.Description) == "" {
		b.WriteString(": nothing yet.\n")
	} else {
		b.WriteString(":\n\n")
		text, _ := clipped(in.Description, maxPlan)
		fenced(&b, "description", in.Fence, text)
	}
	if strings.TrimSpace(in.Instructions) != "" {
		b.WriteString("\nInstructions:\n\n")
		text, _ := clipped(in.Instructions, maxPlan)
		fenced(&b, "instructions", in.Fence, text)
	}
	given(&b, "Documents, in documents/", in.Documents)
	given(&b, "Datasources", in.Sources)
	if strings.TrimSpace(in.State) != "" {
		b.WriteString("\nHow it stands as this turn begins:\n\n")
		fenced(&b, "state", in.Fence, in.State)
	}
	if in.Commit != "" {
		fmt.Fprintf(&b, "\nThe newest commit of its workspace is %s.\n", in.Commit)
	}
	return strings.TrimSpace(b.String())
}

// Texts are what others wrote in a prompt: a fence is made of them.
func (in CompanionIn) Texts() []string { return []string{in.Description, in.Instructions, in.State} }
