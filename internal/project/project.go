// Package project keeps the projects of a workspace on disk:
//
//	projects/<name>/CONTEXT.md        goals, decisions, constraints
//	projects/<name>/filepaths.json    logical names of files and folders: {path, desc}
//	projects/<name>/runs/<run>/run_description.json
//	projects/<name>/deliverables/     the newest outputs, the source of truth
//	projects/<name>/versions/         every version of every deliverable: contents by
//	                                  their hashes, and an index for each path
//	projects/<name>/session.json      the sessions that worked on it
//	scratch/                          whatever belongs to no project
//
// People and agents edit these files by hand as well, so whatever is read is
// checked, and a file that cannot be understood is reported with its place and
// left as it is. What is written is written whole: a crash leaves the old file or
// the new one, and whatever was cut off can simply be done again. A [Store] is safe
// for concurrent use, in several processes too; links that lead out of a project,
// and files with a second name elsewhere, are refused.
//
// A deliverable is changed by [Store.Publish] only from a content that its
// publisher has seen: two who begin with the same one cannot undo one another.
package project

import (
	"time"

	"conclave/internal/event"
)

// A Store is the workspace of sessions.
type Store struct {
	// Dir is the workspace: projects and scratch are in it.
	Dir string
	// Now is the clock; nil is that of the machine.
	Now func() time.Time

	// fail is asked before every step that changes the disk; tests have it fail.
	fail func(step string) error
}

// A Project is what is known of one.
type Project struct {
	Name string `json:"name"`
	Dir  string `json:"dir"`
	// Context is CONTEXT.md.
	Context string          `json:"context"`
	Paths   map[string]Path `json:"paths,omitempty"`
	Runs    []Run           `json:"runs,omitempty"` // newest first
	// Deliverables are what there is, by path.
	Deliverables []Deliverable  `json:"deliverables,omitempty"`
	Sessions     []event.FlowID `json:"sessions,omitempty"`
	Changed      time.Time      `json:"changed"`
	// Problems are files that could not be understood, in words with their place.
	Problems []string `json:"problems,omitempty"`
}

// A Path is an entry of filepaths.json.
type Path struct {
	Path string `json:"path"`
	Desc string `json:"desc"`
}

// A Run is a run_description.json.
type Run struct {
	ID          event.FlowID `json:"run_id"`
	Description string       `json:"description"`
	Status      event.Status `json:"status"`
	At          time.Time    `json:"at"`
	Cost        string       `json:"cost,omitempty"`
	// Paths are where its logs, workspace and answer are, by what they are.
	Paths map[string]string `json:"paths,omitempty"`
	// Deliverables are those that came from it.
	Deliverables []string `json:"deliverables,omitempty"`
}

// A Deliverable is a file people wanted, in its versions.
type Deliverable struct {
	Path string `json:"path"` // below deliverables/
	// Hash and Size are of the file as it is; Edited if it was changed by hand
	// since its newest version, Missing if it is gone.
	Hash     event.Hash `json:"hash,omitempty"`
	Size     int64      `json:"size"`
	Edited   bool       `json:"edited,omitempty"`
	Missing  bool       `json:"missing,omitempty"`
	Versions []Version  `json:"versions,omitempty"` // newest first
}

// A Version is one that was published.
type Version struct {
	N    int          `json:"n"`
	At   time.Time    `json:"at"`
	Hash event.Hash   `json:"hash"`
	Size int64        `json:"size"`
	Run  event.FlowID `json:"run,omitempty"`
	Note string       `json:"note,omitempty"`
	By   string       `json:"by,omitempty"`
}
