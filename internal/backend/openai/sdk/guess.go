package sdk

import (
	"conclave/internal/backend"
	"conclave/internal/event"
)

// Rates of a guess: bytes of text that make a token, about, and what a picture
// comes to.
const (
	bytesPerToken  = 4
	tokensPerImage = 1000
)

// Guess is the usage of a call where the provider does not say, from what was
// sent and how many bytes came back.
func Guess(in backend.Input, back int) event.Usage {
	sent, images := len(in.System), 0
	for _, t := range in.Tools {
		sent += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range in.Messages {
		images += len(m.Images)
		sent += len(m.Text)
		for _, c := range m.Calls {
			sent += len(c.Name) + len(c.Input)
		}
		for _, r := range m.Results {
			sent += len(r.Text)
			images += len(r.Images)
		}
	}
	return event.Usage{
		Input:  int64((sent+bytesPerToken-1)/bytesPerToken + images*tokensPerImage),
		Output: int64((back + bytesPerToken - 1) / bytesPerToken),
	}
}
