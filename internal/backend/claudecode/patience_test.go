package claudecode

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

// SR-10 Our tools may take days: neither of the program's clocks for them runs out
// before, and both can be set, being less than what its timers take (2³¹ ms).
func TestToolsMayTakeDays(t *testing.T) {
	set := map[string]time.Duration{}
	for _, v := range calm {
		name, value, _ := strings.Cut(v, "=")
		if n, err := strconv.ParseInt(value, 10, 32); err == nil {
			set[name] = time.Duration(n) * time.Millisecond
		}
	}
	for _, name := range []string{"MCP_TOOL_TIMEOUT", "CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT"} {
		if set[name] < 7*24*time.Hour {
			t.Errorf("%s is %v", name, set[name])
		}
	}
}
