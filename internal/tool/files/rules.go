package files

import "conclave/internal/policy"

// ruled reports whether there are rules that could keep anything.
func (k *kit) ruled() bool { return len(k.rules.Deny)+len(k.rules.Ask) > 0 }

// kept refuses what a rule denies, or wants a person to be asked about, where it
// is only found inside a folder that a call is about: nobody has judged it yet.
func (k *kit) kept(deeds ...deed) error {
	if !k.ruled() {
		return nil
	}
	for _, d := range deeds {
		a := policy.Action{Kind: d.kind, Target: d.path, Dir: k.root.Place().Dir}
		if v := k.rules.Judge(a); v.Decision != policy.Allow && v.Rule != "" {
			_, err := mistaken("The rule %q is about %s, which lies in that folder. Leave it out, or name single files.", v.Rule, k.show(d.path))
			return err
		}
	}
	return nil
}
