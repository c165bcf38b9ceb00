package chat

import (
	"cmp"
	"net/url"
	"strings"
)

// Azure names a model by its deployment, in the path, and dates its API. The
// newer form of its API (…/openai/v1) does neither.

// azureVersion is the API that knows all that is asked for here.
const azureVersion = "2025-04-01-preview"

func (p Preset) azure() bool { return p.quirks.header != "" }

// deployment is where one deployment answers.
func deployment(endpoint, name string) string {
	if endpoint == "" || plain(endpoint) || strings.Contains(endpoint, "/deployments/") {
		return endpoint
	}
	return strings.TrimSuffix(endpoint, "/openai") + "/openai/deployments/" + url.PathEscape(name)
}

// apiVersion is what to ask for at an address.
func apiVersion(base, given string) string {
	if plain(base) {
		return given
	}
	return cmp.Or(given, azureVersion)
}

func plain(base string) bool { return strings.HasSuffix(base, "/v1") }
