package launch

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/internal/event"
)

// requireApproval is the one setting of coordination_overrides that is none of
// the run's rules.
const requireApproval = "require_approval"

// An override is a setting that a call may change. Names and meanings are those
// of the configuration.
type override struct {
	name string
	doc  string
	value
	// fixed says in which modes the setting is the mode's to make.
	fixed func(event.Mode) bool
}

// A value is how a setting is written, and what it does.
type value struct {
	what   string // in words that follow "must be"
	schema object
	// read is the change to the rules; not ok if the value cannot be used.
	read func(raw string) (change func(*event.Rules), ok bool)
}

// settings are all there are. One that comes later has the last word over the
// same rule.
var settings = []override{
	{"max_new_answers_per_agent", "How many answers an agent may give.",
		whole(1, func(r *event.Rules, n int64) { r.MaxAnswers = int(n) }), quick},
	{"max_new_answers_global", "How many answers all agents together may give.",
		whole(1, func(r *event.Rules, n int64) { r.MaxAnswersGlobal = int(n) }), never},
	{"answer_novelty_requirement", "How new an answer must be.",
		oneOf([]string{"lenient", "balanced", "strict"}, func(r *event.Rules, w string) {
			r.MaxSimilarity = map[string]float64{"lenient": 0, "balanced": 0.70, "strict": 0.50}[w]
		}), never},
	{"fairness_lead_cap_answers", "How many answers an agent may be ahead of the slowest.",
		whole(1, func(r *event.Rules, n int64) { r.FairnessLead = int(n) }), never},
	{"fairness_enabled", "Whether a fast agent waits for the slow ones.", truth(fairness), never},
	{"disable_injection", "Whether agents work unseen by each other until one answer is chosen.",
		truth(func(r *event.Rules, b bool) { r.DisableInjection = b }), quickTeam},
	{"defer_voting_until_all_answered", "Whether nobody chooses before everybody has answered.",
		truth(func(r *event.Rules, b bool) { r.DeferVoting = b }), quickTeam},
	{"skip_voting", "Whether nothing is chosen: each agent answers once and who presents is drawn.",
		truth(func(r *event.Rules, b bool) { r.SkipVoting = b }), quickAlone},
	{"voting_rule", "How choices become a winner: plurality counts first choices, borda whole rankings.",
		oneOf([]string{string(event.Plurality), string(event.Borda)}, func(r *event.Rules, w string) { r.VotingRule = event.VotingRule(w) }), never},
	{"skip_final_presentation", "The same as final_answer_strategy winner_reuse.",
		truth(func(r *event.Rules, b bool) {
			if b {
				r.Strategy = event.WinnerReuse
			}
		}), quickAlone},
	{"final_answer_strategy", "What becomes of the winner's answer: taken word for word, presented by its author, or combined with the others.",
		oneOf([]string{string(event.WinnerReuse), string(event.WinnerPresent), string(event.Synthesize)}, func(r *event.Rules, w string) { r.Strategy = event.Strategy(w) }), quickAlone},
	{"max_attempts_per_round", "How often an agent may fail in one round before it is lost.",
		whole(1, func(r *event.Rules, n int64) { r.MaxAttempts = int(n) }), never},
	{"max_calls_per_round", "How many model calls an agent may make in one round.",
		whole(1, func(r *event.Rules, n int64) { r.MaxCalls = int(n) }), never},
	{"max_tokens", "How many tokens the run may spend; never more than the user allows.",
		whole(0, func(r *event.Rules, n int64) { r.Budget.Tokens = lower(r.Budget.Tokens, n) }), never},
	{"max_cost", "How many dollars the run may spend; never more than the user allows.", dollars(), never},
	{"orchestrator_timeout_seconds", "How long the run may take.",
		seconds(false, func(r *event.Rules, d event.Duration) { r.RunLimit = d }), never},
	{"initial_round_timeout_seconds", "After how long an agent in its first round is told to finish.",
		seconds(false, func(r *event.Rules, d event.Duration) { r.FirstRound = d }), never},
	{"subsequent_round_timeout_seconds", "After how long an agent in a later round is told to finish.",
		seconds(false, func(r *event.Rules, d event.Duration) { r.LaterRounds = d }), never},
	{"round_timeout_grace_seconds", "How long an agent that was told to finish still has.",
		seconds(true, func(r *event.Rules, d event.Duration) { r.RoundGrace = d }), never},
}

// elsewhere are settings of the configuration that parameters of their own stand
// for.
var elsewhere = map[string]string{
	"enable_planning_mode": "planning_mode", "persona": "agent_system_prompts", "system_message": "agent_system_prompts",
}

func never(event.Mode) bool        { return false }
func quick(m event.Mode) bool      { return m.Quick }
func quickTeam(m event.Mode) bool  { return m.Quick && !m.Single }
func quickAlone(m event.Mode) bool { return m.Quick && m.Single }

// fairness back on is what it is by default, unless a lead is set.
func fairness(r *event.Rules, b bool) {
	switch {
	case !b:
		r.FairnessLead = 0
	case r.FairnessLead == 0:
		r.FairnessLead = event.Defaults(event.Mode{}).FairnessLead
	}
}

// Mode is how many agents work in the run, and whether they refine.
func Mode(l event.Launch) event.Mode { return event.Mode{Single: l.Single, Quick: l.Quick} }

// Rules are the rules of a run, given those of its [Mode] as they are configured.
// What was overridden was checked by Launch. Money and tokens are never more than
// what is configured.
func Rules(l event.Launch, r event.Rules) event.Rules {
	r.Planning, r.Execute = l.Plan, l.Execute
	if len(l.Overrides) > 0 {
		all, _ := members(l.Overrides)
		for _, o := range settings {
			for _, m := range all {
				if m.name != o.name {
					continue
				}
				if change, ok := o.read(string(m.value)); ok {
					change(&r)
				}
			}
		}
	}
	// Agents are told to wrap up some time before the end; in a short run that
	// must not be its beginning.
	r.RunGrace = min(r.RunGrace, r.RunLimit/4)
	return r
}

// overrides checks what a call changes. What it gives back has its keys in the
// order of the table.
func overrides(raw json.RawMessage, m event.Mode, bad *problems) (out json.RawMessage, approve bool) {
	if len(raw) == 0 || isNull(raw) {
		return nil, false
	}
	all, why := members(raw)
	if why != "" {
		bad.add("coordination_overrides %s; write it as {\"max_new_answers_per_agent\": 2}.", why)
		return nil, false
	}
	given := map[string]json.RawMessage{}
	for _, one := range all {
		o := findOverride(one.name)
		_, again := given[one.name]
		switch {
		case isNull(one.value):
		case again:
			bad.add("coordination_overrides has %s twice; give it once.", one.name)
		case one.name == requireApproval:
			approve = approval(one.value, bad) || approve
		case o == nil:
			bad.add("%s", misplaced(one.name))
		case o.fits(one.value, m, bad):
			given[one.name] = one.value
		}
	}
	return object(ordered(given)).json(), approve
}

// ordered puts what is given into the order of the table.
func ordered(given map[string]json.RawMessage) []pair {
	var out []pair
	for _, o := range settings {
		if v, ok := given[o.name]; ok {
			out = append(out, pair{o.name, v})
		}
	}
	return out
}

// fits reports whether a value can be used in a mode.
func (o *override) fits(raw json.RawMessage, m event.Mode, bad *problems) bool {
	change, ok := o.read(string(raw))
	if !ok {
		bad.add("coordination_overrides.%s must be %s, not %s.", o.name, o.what, shown(raw))
		return false
	}
	if r := event.Defaults(m); o.fixed(m) {
		if change(&r); r != event.Defaults(m) {
			bad.add("coordination_overrides.%s cannot be %s while refinement is off; leave it out, or set refinement to true.", o.name, shown(raw))
			return false
		}
	}
	return true
}

// approval reads require_approval. Only the user can do without being asked.
func approval(raw json.RawMessage, bad *problems) bool {
	switch string(raw) {
	case "true":
		return true
	case "false":
		bad.add("coordination_overrides.%s cannot be false: only the user decides that nobody is asked, by a command of their own. Leave it out; true asks the user to approve this run even where that is not required.", requireApproval)
	default:
		bad.add("coordination_overrides.%s must be true, not %s.", requireApproval, kind(raw))
	}
	return false
}

// misplaced says what to do about a key that is none of the settings.
func misplaced(name string) string {
	if find(name) != nil {
		return fmt.Sprintf("coordination_overrides cannot hold %s: it is a parameter of launch_run itself; put it beside coordination_overrides.", name)
	}
	if p, ok := elsewhere[name]; ok {
		return fmt.Sprintf("coordination_overrides cannot hold %s; use the parameter %s of launch_run.", name, p)
	}
	var known []string
	for _, o := range settings {
		known = append(known, o.name)
	}
	known = append(known, requireApproval)
	return fmt.Sprintf("coordination_overrides has no setting %q.%s It takes %s.", clip(name), didYouMean(name, known), list(known))
}

// withApproval puts require_approval back where a call has it.
func withApproval(raw json.RawMessage, approve bool) json.RawMessage {
	if !approve {
		return raw
	}
	out := object{}
	if len(raw) > 0 {
		all, _ := members(raw)
		for _, m := range all {
			out = append(out, pair{m.name, m.value})
		}
	}
	return append(out, pair{requireApproval, true}).json()
}

func findOverride(name string) *override {
	i := slices.IndexFunc(settings, func(o override) bool { return o.name == name })
	if i < 0 {
		return nil
	}
	return &settings[i]
}

// shown is a value as it was written, if it is short.
func shown(raw json.RawMessage) string {
	if k := kind(raw); k == "an object" || k == "a list" {
		return k
	}
	return clip(string(raw))
}

func truth(set func(*event.Rules, bool)) value {
	return value{what: "true or false", schema: object{{"type", "boolean"}},
		read: func(raw string) (func(*event.Rules), bool) {
			return func(r *event.Rules) { set(r, raw == "true") }, raw == "true" || raw == "false"
		}}
}

func oneOf(words []string, set func(*event.Rules, string)) value {
	last := len(words) - 1
	return value{what: strings.Join(words[:last], ", ") + " or " + words[last], schema: object{{"type", "string"}, {"enum", words}},
		read: func(raw string) (func(*event.Rules), bool) {
			w, err := strconv.Unquote(raw)
			return func(r *event.Rules) { set(r, w) }, err == nil && slices.Contains(words, w)
		}}
}

// maxWhole keeps numbers small enough for every machine.
const maxWhole = math.MaxInt32

func whole(low int64, set func(*event.Rules, int64)) value {
	most := int64(maxWhole)
	if low == 0 { // an amount, not a count
		most = 1 << 53
	}
	return value{what: fmt.Sprintf("a whole number from %d up", low), schema: object{{"type", "integer"}, {"minimum", low}},
		read: func(raw string) (func(*event.Rules), bool) {
			n, err := strconv.ParseInt(raw, 10, 64)
			return func(r *event.Rules) { set(r, n) }, err == nil && n >= low && n <= most
		}}
}

// maxSeconds is the longest time that can be set: a year.
const maxSeconds = 365 * 24 * 60 * 60

func seconds(zero bool, set func(*event.Rules, event.Duration)) value {
	v := value{what: "a number of seconds above 0", schema: object{{"type", "number"}, {"exclusiveMinimum", 0}}}
	if zero {
		v.what, v.schema = "a number of seconds from 0 up", object{{"type", "number"}, {"minimum", 0}}
	}
	v.read = func(raw string) (func(*event.Rules), bool) {
		n, err := strconv.ParseFloat(raw, 64)
		d := event.Duration(math.Round(min(n, maxSeconds) * float64(time.Second)))
		return func(r *event.Rules) { set(r, d) }, err == nil && n <= maxSeconds && (d > 0 || zero && n == 0)
	}
	return v
}

// amount is dollars without an exponent, read exactly.
var amount = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,6})?$`)

func dollars() value {
	return value{what: "an amount in dollars such as 2.50, with up to six decimals", schema: object{{"type", "number"}, {"minimum", 0}},
		read: func(raw string) (func(*event.Rules), bool) {
			m, err := event.ParseMoney(raw)
			return func(r *event.Rules) { r.Budget.Cost = lower(r.Budget.Cost, m) }, err == nil && amount.MatchString(raw)
		}}
}

// lower is the lower of two ceilings.
func lower[N event.Money | int64](have *N, n N) *N {
	if have != nil && *have < n {
		return have
	}
	return &n
}
