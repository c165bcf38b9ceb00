package anthropic

import (
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
)

// budgets are how many tokens an effort means for models that count them.
var budgets = map[string]int64{"minimal": 1024, "low": 4096, "medium": 8192, "high": 16_384, "xhigh": 32_000}

// efforts are the names the API has for an effort.
var efforts = map[string]sdk.OutputConfigEffort{
	"minimal": sdk.OutputConfigEffortLow, "low": sdk.OutputConfigEffortLow, "medium": sdk.OutputConfigEffortMedium,
	"high": sdk.OutputConfigEffortHigh, "xhigh": sdk.OutputConfigEffortXhigh, "max": sdk.OutputConfigEffortMax,
}

// least is the smallest budget for thoughts that the API takes.
const least = 1024

// think asks for as much thinking as is configured. Nothing configured is the
// model's own way.
func (m *model) think(p *sdk.MessageNewParams) {
	off := m.Effort == "none" || m.Think != nil && *m.Think == 0
	switch {
	case m.Effort == "" && m.Think == nil:
	case adaptive(m.Name) && off && always(m.Name):
		p.OutputConfig.Effort = sdk.OutputConfigEffortLow
	case adaptive(m.Name) && off:
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	case adaptive(m.Name):
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized}
		p.OutputConfig.Effort = efforts[m.Effort]
		if m.Effort == "xhigh" && first(m.Name) {
			p.OutputConfig.Effort = sdk.OutputConfigEffortHigh
		}
	case !off:
		budget := budgets[m.Effort]
		if m.Think != nil {
			budget = int64(*m.Think)
		}
		// Thoughts are part of the reply, and something has to be left to say.
		if budget = min(max(budget, least), p.MaxTokens-least); budget >= least {
			p.Thinking.OfEnabled = &sdk.ThinkingConfigEnabledParam{BudgetTokens: budget}
		}
	}
}

// first reports whether a model is of the first that took an effort, which did not
// know the highest yet.
func first(name string) bool {
	return strings.Contains(name, "-4-6") || strings.Contains(name, "-4.6")
}

// always reports whether a model cannot be kept from thinking.
func always(name string) bool {
	for _, n := range []string{"fable", "mythos", "opus-5-5"} {
		if strings.Contains(name, n) {
			return true
		}
	}
	return false
}

// adaptive reports whether a model decides itself how much to think and takes an
// effort for it. The models before 4.6 take a number of tokens instead.
func adaptive(name string) bool {
	name = name[strings.LastIndex(name, "/")+1:]
	var numbers []int
	for _, part := range strings.FieldsFunc(name, func(c rune) bool { return c == '-' || c == '.' || c == '@' }) {
		if n, err := strconv.Atoi(part); err == nil && n < 100 { // not a date
			numbers = append(numbers, n)
		}
	}
	switch len(numbers) {
	case 0:
		return strings.Contains(name, "mythos")
	case 1:
		return numbers[0] >= 5
	}
	return numbers[0] > 4 || numbers[0] == 4 && numbers[1] >= 6
}
