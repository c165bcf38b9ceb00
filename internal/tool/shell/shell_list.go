package shell

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"conclave/internal/tool"
	"conclave/internal/tool/typed"
)

//go:embed shell_list.md
var aboutList string

func (j *Jobs) lister() tool.Tool {
	return typed.New(typed.Spec[struct{}]{
		Name: "shell_list", About: aboutList, Tier: tool.Read,
		Run: func(context.Context, struct{}) (tool.Result, error) {
			jobs := j.all()
			if len(jobs) == 0 {
				return tool.Result{Text: "There are no background jobs."}, nil
			}
			var out strings.Builder
			for _, x := range jobs {
				fmt.Fprintf(&out, "%s is %s: %s\n", x.id, x.state(), brief(x.line))
			}
			return tool.Result{Text: out.String()}, nil
		},
	})
}

// brief is a command line short enough for a list.
func brief(line string) string {
	const most = 200
	line = strings.Join(strings.Fields(line), " ")
	if len(line) > most {
		return strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
