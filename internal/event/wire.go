package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Version is the version of the wire form. Readers accept every version up to
// their own; a line of a newer one is refused as a whole, while a new kind in
// the same version is kept as [Unknown].
const Version = 1

// kinds is the wire name of every body. It only grows: a name is never reused
// and never changes its meaning.
var kinds = []struct {
	name string
	typ  reflect.Type
}{
	{"run_started", reflect.TypeFor[RunStarted]()},
	{"resumed", reflect.TypeFor[Resumed]()},
	{"assigned", reflect.TypeFor[Assigned]()},
	{"requested", reflect.TypeFor[Requested]()},
	{"granted", reflect.TypeFor[Granted]()},
	{"settled", reflect.TypeFor[Settled]()},
	{"called", reflect.TypeFor[Called]()},
	{"tool_returned", reflect.TypeFor[ToolReturned]()},
	{"told", reflect.TypeFor[Told]()},
	{"proposed", reflect.TypeFor[Proposed]()},
	{"answered", reflect.TypeFor[Answered]()},
	{"voted", reflect.TypeFor[Voted]()},
	{"refused", reflect.TypeFor[Refused]()},
	{"admitted", reflect.TypeFor[Admitted]()},
	{"interrupted", reflect.TypeFor[Interrupted]()},
	{"failed", reflect.TypeFor[Failed]()},
	{"warned", reflect.TypeFor[Warned]()},
	{"lost", reflect.TypeFor[Lost]()},
	{"timer_fired", reflect.TypeFor[TimerFired]()},
	{"cancel_requested", reflect.TypeFor[CancelRequested]()},
	{"ending", reflect.TypeFor[Ending]()},
	{"chosen", reflect.TypeFor[Chosen]()},
	{"asked", reflect.TypeFor[Asked]()},
	{"replied", reflect.TypeFor[Replied]()},
	{"closed", reflect.TypeFor[Closed]()},
	{"presenting", reflect.TypeFor[Presenting]()},
	{"presented", reflect.TypeFor[Presented]()},
	{"finished", reflect.TypeFor[Finished]()},
	{"tool_called", reflect.TypeFor[ToolCalled]()},
	{"compacted", reflect.TypeFor[Compacted]()},
	{"written", reflect.TypeFor[Written]()},
	{"wished", reflect.TypeFor[Wished]()},
	{"noticed", reflect.TypeFor[Noticed]()},
	{"messaged", reflect.TypeFor[Messaged]()},
	{"withdrawn", reflect.TypeFor[Withdrawn]()},
	{"wrap_up_requested", reflect.TypeFor[WrapUpRequested]()},
	{"pause_requested", reflect.TypeFor[PauseRequested]()},
	{"continue_requested", reflect.TypeFor[ContinueRequested]()},
	{"stop_requested", reflect.TypeFor[StopRequested]()},
	{"session_started", reflect.TypeFor[SessionStarted]()},
	{"said", reflect.TypeFor[Said]()},
	{"launched", reflect.TypeFor[Launched]()},
	{"returned", reflect.TypeFor[Returned]()},
	{"planned", reflect.TypeFor[Planned]()},
	{"revised", reflect.TypeFor[Revised]()},
	{"renamed", reflect.TypeFor[Renamed]()},
	{"held", reflect.TypeFor[Held]()},
	{"staffed", reflect.TypeFor[Staffed]()},
	{"wanted", reflect.TypeFor[Wanted]()},
	{"amended", reflect.TypeFor[Amended]()},
	{"concluded", reflect.TypeFor[Concluded]()},
	{"waived", reflect.TypeFor[Waived]()},
	{"pinned", reflect.TypeFor[Pinned]()},
	{"archived", reflect.TypeFor[Archived]()},
	{"opened", reflect.TypeFor[Opened]()},
	{"published", reflect.TypeFor[Published]()},
	{"job_started", reflect.TypeFor[JobStarted]()},
	{"prepared", reflect.TypeFor[Prepared]()},
	{"phase_begun", reflect.TypeFor[PhaseBegun]()},
	{"phase_ended", reflect.TypeFor[PhaseEnded]()},
	{"briefed", reflect.TypeFor[Briefed]()},
	{"todos_staged", reflect.TypeFor[TodosStaged]()},
	{"todos_done", reflect.TypeFor[TodosDone]()},
	{"todos_rewound", reflect.TypeFor[TodosRewound]()},
	{"completing", reflect.TypeFor[Completing]()},
	{"addressed", reflect.TypeFor[Addressed]()},
	{"kept", reflect.TypeFor[Kept]()},
	{"edited", reflect.TypeFor[Edited]()},
	{"commented", reflect.TypeFor[Commented]()},
	{"resolved", reflect.TypeFor[Resolved]()},
	{"responded", reflect.TypeFor[Responded]()},
	{"drafted", reflect.TypeFor[Drafted]()},
	{"corrected", reflect.TypeFor[Corrected]()},
	{"job_ended", reflect.TypeFor[JobEnded]()},
	{"mutated", reflect.TypeFor[Mutated]()},
	{"outlined", reflect.TypeFor[Outlined]()},
	{"linked", reflect.TypeFor[Linked]()},
	{"tiered", reflect.TypeFor[Tiered]()},
	{"team_started", reflect.TypeFor[TeamStarted]()},
	{"spawned", reflect.TypeFor[Spawned]()},
	{"tasked", reflect.TypeFor[Tasked]()},
	{"mailed", reflect.TypeFor[Mailed]()},
	{"reported", reflect.TypeFor[Reported]()},
	{"awaited", reflect.TypeFor[Awaited]()},
	{"finishing", reflect.TypeFor[Finishing]()},
	{"rooted", reflect.TypeFor[Rooted]()},
	{"committed", reflect.TypeFor[Committed]()},
	{"merged", reflect.TypeFor[Merged]()},
	{"synced", reflect.TypeFor[Synced]()},
	{"notified", reflect.TypeFor[Notified]()},
	{"team_ended", reflect.TypeFor[TeamEnded]()},
}

func (RunStarted) body()        {}
func (Resumed) body()           {}
func (Assigned) body()          {}
func (Requested) body()         {}
func (Granted) body()           {}
func (Settled) body()           {}
func (Called) body()            {}
func (ToolReturned) body()      {}
func (Told) body()              {}
func (Proposed) body()          {}
func (Answered) body()          {}
func (Voted) body()             {}
func (Refused) body()           {}
func (Admitted) body()          {}
func (Interrupted) body()       {}
func (Failed) body()            {}
func (Warned) body()            {}
func (Lost) body()              {}
func (TimerFired) body()        {}
func (CancelRequested) body()   {}
func (Ending) body()            {}
func (Chosen) body()            {}
func (Asked) body()             {}
func (Replied) body()           {}
func (Closed) body()            {}
func (Presenting) body()        {}
func (Presented) body()         {}
func (Finished) body()          {}
func (ToolCalled) body()        {}
func (Compacted) body()         {}
func (Written) body()           {}
func (Wished) body()            {}
func (Noticed) body()           {}
func (Messaged) body()          {}
func (Withdrawn) body()         {}
func (WrapUpRequested) body()   {}
func (PauseRequested) body()    {}
func (ContinueRequested) body() {}
func (StopRequested) body()     {}
func (SessionStarted) body()    {}
func (Said) body()              {}
func (Launched) body()          {}
func (Returned) body()          {}
func (Planned) body()           {}
func (Revised) body()           {}
func (Renamed) body()           {}
func (Held) body()              {}
func (Staffed) body()           {}
func (Wanted) body()            {}
func (Amended) body()           {}
func (Concluded) body()         {}
func (Waived) body()            {}
func (Pinned) body()            {}
func (Archived) body()          {}
func (Opened) body()            {}
func (Published) body()         {}
func (JobStarted) body()        {}
func (Prepared) body()          {}
func (PhaseBegun) body()        {}
func (PhaseEnded) body()        {}
func (Briefed) body()           {}
func (TodosStaged) body()       {}
func (TodosDone) body()         {}
func (TodosRewound) body()      {}
func (Completing) body()        {}
func (Addressed) body()         {}
func (Kept) body()              {}
func (Edited) body()            {}
func (Commented) body()         {}
func (Resolved) body()          {}
func (Responded) body()         {}
func (Drafted) body()           {}
func (Corrected) body()         {}
func (JobEnded) body()          {}
func (Mutated) body()           {}
func (Outlined) body()          {}
func (Linked) body()            {}
func (Tiered) body()            {}
func (TeamStarted) body()       {}
func (Spawned) body()           {}
func (Tasked) body()            {}
func (Mailed) body()            {}
func (Reported) body()          {}
func (Awaited) body()           {}
func (Finishing) body()         {}
func (Rooted) body()            {}
func (Committed) body()         {}
func (Merged) body()            {}
func (Synced) body()            {}
func (Notified) body()          {}
func (TeamEnded) body()         {}

var byName, byType = index()

func index() (map[string]reflect.Type, map[reflect.Type]string) {
	n, t := map[string]reflect.Type{}, map[reflect.Type]string{}
	for _, k := range kinds {
		n[k.name], t[k.typ] = k.typ, k.name
	}
	return n, t
}

// Kinds lists the wire names of all bodies, oldest first.
func Kinds() []string {
	var out []string
	for _, k := range kinds {
		out = append(out, k.name)
	}
	return out
}

// Kind is the wire name of b.
func Kind(b Body) string {
	if u, ok := b.(Unknown); ok {
		return u.Kind
	}
	if name, ok := byType[reflect.TypeOf(b)]; ok {
		return name
	}
	panic(fmt.Sprintf("event: %T is not in the kinds table", b))
}

// EncodeBody gives the wire form of a body alone, as a log stores it.
func EncodeBody(b Body) ([]byte, error) {
	if u, ok := b.(Unknown); ok {
		return u.Raw, nil
	}
	p, err := encode(b)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", Kind(b), err)
	}
	return p, nil
}

// encode is json.Marshal that leaves <, > and & readable.
func encode(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

// DecodeBody reads what EncodeBody wrote. A kind it does not know becomes an
// Unknown, which is no error.
func DecodeBody(kind string, p []byte) (Body, error) {
	t, ok := byName[kind]
	if !ok {
		return Unknown{Kind: kind, Raw: bytes.Clone(p)}, nil
	}
	v := reflect.New(t)
	if err := json.Unmarshal(p, v.Interface()); err != nil {
		return nil, fmt.Errorf("decode %s: %w", kind, err)
	}
	return v.Elem().Interface().(Body), nil
}

type wire struct {
	V     int             `json:"v"`
	Pos   uint64          `json:"pos,omitempty"`
	Flow  FlowID          `json:"flow"`
	Seq   uint64          `json:"seq"`
	At    time.Time       `json:"at"`
	ID    string          `json:"id"`
	Agent AgentID         `json:"agent,omitempty"`
	Kind  string          `json:"kind"`
	Body  json.RawMessage `json:"body"`
}

// MarshalJSON gives the event as one line of an exported log.
func (e Event) MarshalJSON() ([]byte, error) {
	b, err := EncodeBody(e.Body)
	if err != nil {
		return nil, err
	}
	return encode(wire{Version, e.Pos, e.Flow, e.Seq, e.At.UTC(), e.ID, e.Agent, Kind(e.Body), b})
}

// UnmarshalJSON reads one line of an exported log.
func (e *Event) UnmarshalJSON(p []byte) error {
	var w wire
	if err := json.Unmarshal(p, &w); err != nil {
		return fmt.Errorf("decode event: %w", err)
	}
	if w.V < 1 || w.V > Version {
		return fmt.Errorf("decode event: wire version %d is not known here (newest: %d)", w.V, Version)
	}
	at := w.At.UTC()
	if y := at.Year(); y < 0 || y > 9999 {
		return fmt.Errorf("event %d of %s: the year %d cannot be written", w.Seq, w.Flow, y)
	}
	b, err := DecodeBody(w.Kind, w.Body)
	if err != nil {
		return fmt.Errorf("event %d of %s: %w", w.Seq, w.Flow, err)
	}
	*e = Event{Pos: w.Pos, Flow: w.Flow, Seq: w.Seq, At: at, Fact: Fact{ID: w.ID, Agent: w.Agent, Body: b}}
	return nil
}
