package launch

import (
	"path"
	"slices"
	"strings"

	"conclave/internal/event"
)

// maxPaths is how many paths a call may name.
const maxPaths = 100

// paths are those of the call, clean. They are absolute: the caller, the agents
// and the user each stand in another directory, so a relative one would mean
// three things.
func (p Params) paths(bad *problems) []event.ContextPath {
	if len(p.ContextPaths) > maxPaths {
		bad.add("context_paths names %d paths and at most %d are taken; name the folders they lie in.", len(p.ContextPaths), maxPaths)
		return nil
	}
	var out []event.ContextPath
	for _, c := range p.ContextPaths {
		clean := path.Clean(c.Path)
		switch {
		case strings.TrimSpace(c.Path) == "":
			bad.add("an entry of context_paths has no path; write the absolute path of a file or folder.")
		case strings.ContainsRune(c.Path, 0):
			bad.add("the path %q of context_paths holds a zero byte.", clip(c.Path))
		case !absolute(c.Path):
			bad.add("the path %q of context_paths is relative; write the absolute path, which begins with /.", clip(c.Path))
		case slices.ContainsFunc(out, func(o event.ContextPath) bool { return o.Path == clean }):
			bad.add("context_paths names %s twice; name it once, with the permission that counts.", clip(clean))
		case c.Permission != "" && c.Permission != reads && c.Permission != writes:
			bad.add("the permission of %s in context_paths must be read or write, not %q.%s", clip(clean), clip(c.Permission), didYouMean(c.Permission, []string{reads, writes}))
		default:
			out = append(out, event.ContextPath{Path: clean, Write: c.Permission == writes})
		}
	}
	return out
}

// absolute reports whether a path says where it begins, on whichever system.
func absolute(p string) bool {
	return path.IsAbs(p) || len(p) > 2 && p[1] == ':' && (p[2] == '\\' || p[2] == '/')
}

// Paths are those of a run: the inherited ones and over them those of the launch.
// For the same path the launch's entry counts, but what the user has protected
// stays protected, whichever path it is reached by.
func Paths(l event.Launch, inherited []event.ContextPath) []event.ContextPath {
	var out []event.ContextPath
	for _, c := range inherited {
		if !slices.ContainsFunc(l.Paths, func(o event.ContextPath) bool { return o.Path == path.Clean(c.Path) }) {
			out = append(out, c)
		}
	}
	for _, c := range l.Paths {
		for _, safe := range protected(inherited) {
			switch rest, in := below(safe, c.Path); {
			case in && rest == ".", within(c.Path, safe):
				c.Write = false
			case in && !slices.Contains(c.Protected, rest):
				c.Protected = append(slices.Clip(c.Protected), rest)
			}
		}
		out = append(out, c)
	}
	return out
}

// protected are the places that stay as they are, absolute.
func protected(paths []event.ContextPath) []string {
	var out []string
	for _, c := range paths {
		for _, p := range c.Protected {
			if !path.IsAbs(p) {
				p = path.Join(c.Path, p)
			}
			out = append(out, path.Clean(p))
		}
	}
	return out
}

// below is p relative to dir, if it lies in it or is it.
func below(p, dir string) (rest string, ok bool) {
	if p == dir {
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

func within(p, dir string) bool { _, ok := below(p, dir); return ok }
