package web

import (
	"strings"
	"testing"

	"conclave/internal/gear"
	"conclave/internal/policy"
)

func TestTools(t *testing.T) {
	env := func(name string) (string, bool) { return "s3cret", name == "KEY" }
	search := func(key string) *gear.Search { return &gear.Search{URL: "https://s.example/", Key: key} }
	for name, c := range map[string]struct {
		gear gear.Gear
		want string // names, or the error
	}{
		"nothing":   {gear.Gear{}, ""},
		"pages":     {gear.Gear{Fetch: true}, "web_fetch"},
		"both":      {gear.Gear{Fetch: true, Search: search("KEY")}, "web_fetch web_search"},
		"no key":    {gear.Gear{Search: search("")}, "web_search"},
		"key unset": {gear.Gear{Search: search("OTHER")}, "web search: the key is to be in the variable OTHER, which is not set"},
		"no URL":    {gear.Gear{Search: &gear.Search{URL: "s.example"}}, `web search: only http and https URLs can be fetched, not ":"`},
	} {
		tools, err := Tools(c.gear, env)
		var got []string
		for _, x := range tools {
			got = append(got, x.Name())
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", name, s, c.want)
		}
	}
}

// What a rule says of a URL holds for one that is redirected to, as well.
func TestRedirectsAreHeldToTheRules(t *testing.T) {
	may := judged(policy.Permissions{Deny: []string{"read_url(https://denied.example/*)"}, Ask: []string{"read_url(https://asked.example/*)"}})
	for url, want := range map[string]string{
		"https://denied.example/x": "is denied",
		"https://asked.example/x":  "fetch that URL itself",
		"https://other.example/x":  "",
	} {
		if err := may(url); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", url, err, want)
		}
	}
}
