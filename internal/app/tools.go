package app

import (
	"context"
	"os"
	"path"
	"slices"
	"time"

	"conclave/internal/kit"
	"conclave/internal/prompt"
	"conclave/internal/tool"
	"conclave/internal/tool/files"
	"conclave/internal/tool/memory"
	"conclave/internal/tool/plan"
	"conclave/internal/tool/shell"
	"conclave/internal/tool/skill"
	"conclave/internal/tool/web"
)

// tools is where the tools of agents come from, in the order in which a model is
// offered them.
var tools = []kit.Source{fileTools, shellTools, planTools, memoryTools, skillTools, webTools, serverTools}

func fileTools(_ context.Context, b *kit.Bench) ([]tool.Tool, error) {
	if !b.Gear.Files || b.Root == nil {
		return nil, nil
	}
	// What the agent has read or made is remembered from turn to turn: only that
	// may it delete.
	seen, err := b.Keep("files", func() (any, error) { return &files.Seen{}, nil })
	if err != nil {
		return nil, err
	}
	all := files.Tools(b.Root, seen.(*files.Seen), b.Gear.Permissions)
	if b.Gear.Own { // it looks with tools of its own
		all = slices.DeleteFunc(all, func(x tool.Tool) bool { return x.Name() != "write" && x.Name() != "edit" })
	}
	return all, nil
}

func shellTools(ctx context.Context, b *kit.Bench) ([]tool.Tool, error) {
	if b.Box == nil {
		return nil, nil
	}
	o := shell.Options{Box: b.Box, Dir: b.Dir, Timeout: time.Duration(b.Gear.Shell.Timeout), Boxed: b.Boxed, Sandbox: b.Engine}
	jobs := shell.NewJobs(context.WithoutCancel(ctx), o)
	b.OnSnapshot(jobs.Close)
	b.OnEnd(jobs.End)
	return append([]tool.Tool{shell.New(o)}, jobs.Tools()...), nil
}

func planTools(_ context.Context, b *kit.Bench) ([]tool.Tool, error) {
	if !b.Gear.Plan || b.Root == nil {
		return nil, nil
	}
	file := plan.Path
	if b.Shared { // each session has a plan of its own
		file = path.Join("scratch", string(b.Flow), plan.Path)
	}
	return plan.Tools(plan.Options{
		Read:     func() ([]byte, error) { return b.Root.ReadFile(file, planMax) },
		Write:    func(p []byte) error { return b.Root.WriteFile(file, p) },
		Path:     file,
		MaxTasks: b.Gear.Tasks,
	}), nil
}

// planMax is the largest plan that is read.
const planMax = 4 << 20

func memoryTools(_ context.Context, b *kit.Bench) ([]tool.Tool, error) {
	if !b.Gear.Memory {
		return nil, nil
	}
	kept, err := b.Keep("memory", func() (any, error) { return os.OpenRoot(b.Notes) })
	if err != nil {
		return nil, err
	}
	in := memory.In(kept.(*os.Root))
	short, long, problems := memory.Load(in)
	for _, p := range problems {
		b.Notice(p.Error())
	}
	b.Describe(func(s *prompt.Scene) {
		for _, n := range short {
			s.Memory = append(s.Memory, prompt.Text{Name: n.Name, Text: n.Content})
		}
		for _, n := range long {
			s.Notes = append(s.Notes, prompt.Entry{Name: n.Name, About: n.Description})
		}
	})
	return memory.Tools(memory.Options{Files: in, Now: time.Now}), nil
}

func skillTools(_ context.Context, b *kit.Bench) ([]tool.Tool, error) {
	if len(b.Gear.Skills) == 0 {
		return nil, nil
	}
	skills, problems := skill.List(b.Gear.Skills)
	for _, p := range problems {
		b.Notice(p.Error())
	}
	if len(skills) == 0 {
		return nil, nil
	}
	b.Describe(func(s *prompt.Scene) {
		for _, k := range skills {
			s.Skills = append(s.Skills, prompt.Entry{Name: k.Name, About: k.Description})
		}
	})
	return []tool.Tool{skill.New(skills)}, nil
}

func webTools(_ context.Context, b *kit.Bench) ([]tool.Tool, error) {
	return web.Tools(b.Gear, b.Env)
}
