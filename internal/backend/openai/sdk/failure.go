package sdk

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"conclave/internal/backend"
	"conclave/internal/backend/wire"
)

// A Peer is the provider on the other side, as errors name it.
type Peer struct {
	Provider string
	Key      backend.Key
}

// Failure is the error of a turn for one of the transport. The end of the
// context comes before whatever it broke.
func (p Peer) Failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := wire.Failure(err, p.Provider, p.Key)
	s, ok := errors.AsType[*wire.StatusError](err)
	if e, is := errors.AsType[*backend.Error](out); ok && is {
		return decline(e, s.Body)
	}
	return out
}

// Complaint is the error of a turn for an error that came in a stream, whole as
// it was sent.
func (p Peer) Complaint(body []byte) error {
	return decline(wire.Status(0, nil, body, p.Provider, p.Key), body)
}

// decline makes an error Declined whose code says that a policy of the provider's
// will not have it: nothing is wrong with the request.
func decline(e *backend.Error, body []byte) error {
	type complaint struct {
		Code string `json:"code"`
	}
	var c struct {
		complaint
		Error complaint `json:"error"`
	}
	_ = json.Unmarshal(body, &c) // a field of another type is left out
	code := c.Code + c.Error.Code
	if code == "invalid_prompt" || strings.Contains(code, "_policy") {
		e.Kind = backend.Declined
	}
	return e
}
