package project

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// pathsForm is what filepaths.json should be.
const pathsForm = `make it an object of names, each with {"path": "…", "desc": "…"}`

// paths are the entries of filepaths.json.
func (f *folder) paths() (map[string]Path, error) {
	src, err := f.read(pathsFile, maxJSON)
	if err != nil || src == nil {
		return nil, err
	}
	all, err := f.entries(src)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	out := map[string]Path{}
	for _, m := range all {
		var p Path
		if err := json.Unmarshal(m.value, &p); err != nil {
			return nil, err
		}
		out[m.key] = p
	}
	return out, nil
}

// entries takes filepaths.json apart. The error is a *Problem.
func (f *folder) entries(src []byte) ([]member, error) {
	all, at, wrong := members(src)
	if wrong != "" {
		return nil, f.problem(pathsFile, src, at, wrong, pathsForm)
	}
	for _, m := range all {
		if at, wrong := entry(m); wrong != "" {
			return nil, f.problem(pathsFile, src, m.at+at, fmt.Sprintf("%q: %s", m.key, wrong), pathsForm)
		}
	}
	return all, nil
}

// entry is what is wrong with an entry, if anything, and where in it.
func entry(m member) (at int64, wrong string) {
	fields, at, wrong := members(m.value)
	if wrong != "" {
		return at, wrong
	}
	path := ""
	for _, f := range fields {
		if f.key != "path" && f.key != "desc" {
			continue // somebody's own, and left to them
		}
		var s *string
		if json.Unmarshal(f.value, &s) != nil || s == nil {
			return f.at, fmt.Sprintf("its %s is not a text", f.key)
		}
		if f.key == "path" {
			path = *s
		}
	}
	if strings.TrimSpace(path) == "" {
		return 0, "it has no path"
	}
	return 0, ""
}

// AddPath gives a file or folder a logical name in filepaths.json, in place of what
// had it before. While that file is broken the error is a *Problem.
func (s Store) AddPath(ctx context.Context, name, logical string, p Path) error {
	if err := checkText("the description", p.Desc); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(logical) == "" || len(logical) > 100 || !utf8.ValidString(logical) || strings.ContainsFunc(logical, unicode.IsControl):
		return fmt.Errorf("%.120q is no logical name: use a few words on one line, 100 bytes at most", logical)
	case strings.TrimSpace(p.Path) == "" || len(p.Path) > 4096 || !utf8.ValidString(p.Path) || strings.ContainsFunc(p.Path, unicode.IsControl):
		return fmt.Errorf("%.120q is not the path of a file or folder", p.Path)
	}
	return s.change(ctx, name, func(f *folder) error {
		return f.rewrite(ctx, pathsFile, maxJSON, func(old []byte) ([]byte, error) {
			if old == nil {
				old = []byte("{}")
			}
			all, err := f.entries(old)
			if err != nil {
				return nil, err
			}
			return named(all, logical, p)
		})
	})
}

// named is filepaths.json with an entry in it.
func named(all []member, logical string, p Path) ([]byte, error) {
	i := slices.IndexFunc(all, func(m member) bool { return m.key == logical })
	if i < 0 {
		if len(all) >= maxEntries {
			return nil, fmt.Errorf("there are %d paths already, which is the most; filepaths.json is for the important ones", maxEntries)
		}
		all, i = append(all, member{key: logical, value: json.RawMessage("{}")}), len(all)
	}
	fields, _, _ := members(all[i].value)
	for _, v := range []struct{ key, text string }{{"path", p.Path}, {"desc", p.Desc}} {
		raw, err := plainJSON(v.text)
		if err != nil {
			return nil, err
		}
		j := slices.IndexFunc(fields, func(m member) bool { return m.key == v.key })
		if j < 0 {
			fields, j = append(fields, member{key: v.key}), len(fields)
		}
		fields[j].value = raw
	}
	raw, err := object(fields)
	if err != nil {
		return nil, err
	}
	all[i].value = raw
	return object(all)
}
