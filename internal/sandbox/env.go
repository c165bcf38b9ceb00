package sandbox

import "slices"

// Path is where programs are looked for in a box.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Env is the whole environment of a command: what every box has, then the box's
// own, then the command's, where a later one takes the place of an earlier one.
func Env(home, tmp string, more ...[]string) []string {
	all := slices.Concat([][]string{{
		"PATH=" + Path, "HOME=" + home, "TMPDIR=" + tmp, "LANG=C.UTF-8", "TERM=dumb",
	}}, more)
	var out []string
	at := map[string]int{}
	for _, v := range slices.Concat(all...) {
		name := variable(v)
		if i, ok := at[name]; ok {
			out[i] = v
			continue
		}
		at[name] = len(out)
		out = append(out, v)
	}
	return out
}

func variable(v string) string {
	for i := range v {
		if v[i] == '=' {
			return v[:i]
		}
	}
	return v
}
