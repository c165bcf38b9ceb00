package app

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/launch"
	"conclave/internal/policy"
)

// maxImage is the largest picture that is taken along.
const maxImage = 5 << 20

// pictures are the types that models can be shown, by the end of a file's name.
var pictures = map[string]string{
	".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp",
}

// refs takes the files a task names out of it: @path may be read, @path:w may be
// written, and a picture is shown; @"a path":w has spaces in it, and \@ is no more
// than the character. The names stay in the text, without the mark. What is no
// file and does not look like one stays as it is.
func (a *App) refs(task string) (text string, paths []event.ContextPath, images []string, err error) {
	var b strings.Builder
	for rest := task; rest != ""; {
		i := strings.IndexByte(rest, '@')
		if i < 0 {
			b.WriteString(rest)
			break
		}
		before := rest[:i]
		if plain, escaped := strings.CutSuffix(before, `\`); escaped {
			b.WriteString(plain + "@")
			rest = rest[i+1:]
			continue
		}
		b.WriteString(before)
		before, rest = b.String(), rest[i+1:]
		path, write, size := refAt(rest)
		if before != "" && !strings.ContainsAny(before[len(before)-1:], " \t\n\"'`([{<") || path == "" {
			b.WriteByte('@')
			continue
		}
		abs, there := a.resolve(path)
		switch _, picture := pictures[strings.ToLower(filepath.Ext(path))]; {
		case there && picture && !write:
			images = append(images, abs)
		case there:
			paths = append(paths, event.ContextPath{Path: abs, Write: write})
		case write || picture || strings.Contains(path, "/"):
			return "", nil, nil, control.Usagef("the task names @%s, and there is no such file or folder; write it without the @ if it is not meant to be one", path)
		default:
			b.WriteByte('@') // somebody's name, perhaps
			continue
		}
		b.WriteString(path)
		rest = rest[size:]
	}
	return b.String(), paths, images, nil
}

// refAt reads the path that follows an @, and how long what was read is.
func refAt(s string) (path string, write bool, size int) {
	if strings.HasPrefix(s, `"`) {
		return quotedRef(s)
	}
	if end := strings.IndexAny(s, " \t\n\"'`()[]{}<>,;"); end >= 0 {
		s = s[:end]
	}
	s = strings.TrimRight(s, ".:!?")
	path, write = strings.CutSuffix(s, ":w")
	return path, write, len(s)
}

// quotedRef reads a path in quotes, in which a backslash keeps what follows
// it. One that is not closed is none.
func quotedRef(s string) (path string, write bool, size int) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s) && s[i+1] != '\n':
			i++
			b.WriteByte(s[i])
		case c == '"':
			size = i + 1
			if write = strings.HasPrefix(s[size:], ":w"); write {
				size += 2
			}
			return b.String(), write, size
		case c == '\n':
			return "", false, 0
		default:
			b.WriteByte(c)
		}
	}
	return "", false, 0
}

// resolve makes a path absolute, from where the program was started, and tells
// whether there is something.
func (a *App) resolve(path string) (string, bool) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, path[1:])
		}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.dir, path)
	}
	path = filepath.Clean(path)
	_, err := os.Stat(path)
	return path, err == nil
}

// real is where a path leads. One inside the project must stay there: whoever
// wrote the project, or an agent that could, may have made the link.
func (a *App) real(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", control.Usagef("use %s: %w", path, err)
	}
	if a.inside(path) && !a.inside(real) {
		return "", control.Usagef("%s leads over a link out of the project, to %s; if that is meant, name it", path, real)
	}
	return real, nil
}

// inside reports whether a path lies in the project, by its name.
func (a *App) inside(path string) bool {
	rel, err := filepath.Rel(a.project, path)
	return err == nil && filepath.IsLocal(rel)
}

// material is what a run is given besides its task: context paths, the
// configured ones and over them those of the request or of what was launched, and
// pictures.
func (a *App) material(ctx context.Context, configured []event.ContextPath, q control.Request, o *order) (string, []event.ContextPath, []event.Media, error) {
	text, named, shown, err := q.Task, []event.ContextPath(nil), []string(nil), error(nil)
	if !q.Piped {
		if text, named, shown, err = a.refs(q.Task); err != nil {
			return "", nil, nil, err
		}
	}
	paths, err := a.inherited(configured)
	if err != nil {
		return "", nil, nil, err
	}
	var own []event.ContextPath
	if o != nil && o.launch != nil {
		if paths, err = a.launched(*o.launch, paths); err != nil {
			return "", nil, nil, err
		}
		own = o.own
	}
	for _, p := range append(slices.Clone(q.Context), named...) {
		if p, err = a.there(p); err != nil {
			return "", nil, nil, err
		}
		i := slices.IndexFunc(paths, func(o event.ContextPath) bool { return o.Path == p.Path })
		if i < 0 {
			if !slices.ContainsFunc(paths, func(o event.ContextPath) bool { return within(o, p) }) {
				paths = append(paths, p)
			}
			continue
		}
		if p.Protected == nil {
			p.Protected = paths[i].Protected
		}
		paths[i] = p
	}
	var images []event.Media
	for _, file := range append(slices.Clone(q.Images), shown...) {
		m, err := a.picture(ctx, file)
		if err != nil {
			return "", nil, nil, err
		}
		images = append(images, m)
	}
	return text, paths, images, a.allowed(paths, own...)
}

// inherited are configured paths by where they lead, each once.
func (a *App) inherited(configured []event.ContextPath) ([]event.ContextPath, error) {
	var paths []event.ContextPath
	var err error
	for _, p := range configured {
		if p.Path, err = a.real(p.Path); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(paths, func(o event.ContextPath) bool { return o.Path == p.Path }) {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// launched are the paths of a launch over inherited ones.
func (a *App) launched(l event.Launch, inherited []event.ContextPath) ([]event.ContextPath, error) {
	var err error
	l.Paths = slices.Clone(l.Paths)
	for i, p := range l.Paths {
		if l.Paths[i], err = a.there(p); err != nil {
			return nil, err
		}
		if inside := l.Paths[i]; inside.Write && guardedPart(inside.Path) {
			return nil, control.Usagef("the context path %s cannot be written: what lies in .git is run by whoever uses the repository. Give it to be read, or leave it out", inside.Path)
		}
	}
	return launch.Paths(l, inherited), nil
}

// guardedPart reports whether a path lies in what stays as it is in every folder:
// given by itself it would not be guarded any more.
func guardedPart(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(path), "/"), func(part string) bool {
		return part != ".conclave" && policy.Guarded(part) // which is dealt with by itself
	})
}

// there is a path that is named, by where it leads.
func (a *App) there(p event.ContextPath) (event.ContextPath, error) {
	abs, there := a.resolve(p.Path)
	if !there {
		return p, control.Usagef("the context path %s does not exist%s", p.Path, a.rightsMeant(p.Path))
	}
	var err error
	p.Path, err = a.real(abs)
	return p, err
}

// rightsMeant is a hint for a path that is there but for what stands at its end.
func (a *App) rightsMeant(path string) string {
	i := strings.LastIndexByte(path, ':')
	if i < 0 || len(path)-i > 6 {
		return ""
	}
	if _, there := a.resolve(path[:i]); !there {
		return ""
	}
	return "; write " + path[:i] + " to have it read, or " + path[:i] + ":rw to let the winner write it"
}

// within reports whether a path is part of what the agents have anyway: naming
// it again does not take rights away.
func within(o, p event.ContextPath) bool {
	rel, err := filepath.Rel(o.Path, p.Path)
	return err == nil && filepath.IsLocal(rel) && (o.Write || !p.Write)
}

// allowed refuses paths that no agent may be given: the program's own state, but
// for the folders named besides, and what contains everything.
func (a *App) allowed(paths []event.ContextPath, own ...event.ContextPath) error {
	for _, p := range paths {
		if slices.ContainsFunc(own, func(o event.ContextPath) bool { return within(o, p) }) {
			continue
		}
		for _, part := range strings.Split(filepath.ToSlash(p.Path), "/") {
			if part == ".conclave" {
				return control.Usagef("the path %s lies in .conclave, which is the program's own", p.Path)
			}
		}
		if p.Write && filepath.Dir(p.Path) == p.Path {
			return control.Usagef("the whole file system cannot be a writable context path; name a folder")
		}
	}
	return nil
}

// picture keeps a picture for the run.
func (a *App) picture(ctx context.Context, file string) (event.Media, error) {
	abs, _ := a.resolve(file)
	info, err := os.Stat(abs) // before it is opened: a pipe would wait
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return event.Media{}, control.Usagef("the picture %s does not exist", file)
	case err == nil && !info.Mode().IsRegular():
		return event.Media{}, control.Usagef("%s is not a picture but a folder or a device", file)
	}
	real, err := a.real(abs)
	if err != nil {
		return event.Media{}, err
	}
	f, err := os.Open(real)
	if err != nil {
		return event.Media{}, control.Usagef("open the picture: %w", err)
	}
	defer f.Close()
	p, err := io.ReadAll(io.LimitReader(f, maxImage+1))
	kind := http.DetectContentType(p)
	switch {
	case err != nil:
		return event.Media{}, control.Usagef("read the picture: %w", err)
	case len(p) > maxImage:
		return event.Media{}, control.Usagef("the picture %s is larger than %d MiB", file, maxImage>>20)
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind):
		return event.Media{}, control.Usagef("%s is not a picture that models can be shown (png, jpeg, gif, webp); it looks like %s", file, kind)
	}
	log, err := a.events(ctx)
	if err != nil {
		return event.Media{}, err
	}
	h, err := log.PutBlob(ctx, p)
	if err != nil {
		return event.Media{}, control.Usagef("keep the picture: %w", err)
	}
	return event.Media{Type: kind, Blob: h, Size: len(p), Name: filepath.Base(abs)}, nil
}

// ceilings are the budget of a request over the configured one.
func (t *team) ceilings(q control.Request) {
	if q.MaxCost != nil {
		t.settings.MaxCost = q.MaxCost
	}
	if q.MaxTokens != nil {
		t.settings.MaxTokens = q.MaxTokens
	}
}
