package gemini

import (
	"strconv"
	"strings"
)

// generation is a model's major version, from its name; models that carry none,
// such as those that are called latest, are as new as can be.
func generation(name string) float64 {
	name = name[strings.LastIndexByte(name, '/')+1:]
	rest, ok := strings.CutPrefix(name, "gemini-")
	if !ok {
		if strings.HasPrefix(name, "gemini") {
			return 3
		}
		return 1 // gemma, learnlm, tuned models
	}
	number, _, _ := strings.Cut(rest, "-")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 3
	}
	return v
}

// thinking says how hard to think, and that we want to see it. Models before 2.5
// do not think, nor does the smallest of 2.5 by itself, and they refuse to be
// asked for their thoughts, so they are asked only by a configuration that does
// so.
func (m *model) thinking() *thinkingConfig {
	v := generation(m.Name)
	idle := v < 2.5 || v < 3 && strings.Contains(m.Name, "flash-lite")
	if idle && m.Think == nil && m.Effort == "" {
		return nil
	}
	c := &thinkingConfig{IncludeThoughts: true}
	switch {
	case m.Think != nil:
		budget := int32(-1) // as the model sees fit
		if *m.Think >= 0 {
			budget = whole(*m.Think)
		}
		c.ThinkingBudget = &budget
	case m.Effort == "":
	case v >= 3:
		c.ThinkingLevel = m.level()
	default:
		c.ThinkingBudget = m.budget()
	}
	if c.ThinkingBudget != nil && *c.ThinkingBudget == 0 {
		c.IncludeThoughts = false // there are none, and asking for them is an error
	}
	return c
}

// level is an effort in the words of models from 3 on. They cannot but think; the
// larger ones not even minimally, and the first of them knew no middle.
func (m *model) level() string {
	switch m.Effort {
	case "none", "minimal":
		if strings.Contains(m.Name, "-pro") {
			return levelLow
		}
		return levelMinimal
	case "low":
		return levelLow
	case "medium":
		if !strings.Contains(m.Name, "gemini-3-pro") {
			return levelMedium
		}
	}
	return levelHigh
}

// budget is an effort in tokens, for models before 3. The larger ones cannot
// but think.
func (m *model) budget() *int32 {
	least := int32(0)
	if strings.Contains(m.Name, "-pro") {
		least = 128
	}
	table := map[string]int32{"none": least, "minimal": 512, "low": 1024, "medium": 8192, "high": 24576, "xhigh": 24576}
	tokens, ok := table[m.Effort]
	if !ok {
		return nil
	}
	return &tokens
}
