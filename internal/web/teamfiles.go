package web

import (
	"errors"
	"net/http"

	"conclave/internal/control"
	"conclave/internal/event"
	"conclave/internal/view"
)

// tree is the team in the path and whose tree is asked for: that of a member, or
// the shared one.
func (s *Server) tree(r *http.Request) (event.FlowID, event.AgentID, error) {
	now, err := s.open(r, view.KindTeam)
	if err != nil {
		return "", "", err
	}
	who := event.AgentID(r.URL.Query().Get("member"))
	switch i := indexMember(now.Team, who); {
	case who == "":
		return now.Team.ID, "", nil
	case i < 0:
		return "", "", missing("There is no %q in this team.", clip(string(who), 60))
	case now.Team.Members[i].Leader: // works in the shared one
		who = ""
	}
	return now.Team.ID, who, nil
}

func (s *Server) teamFiles(r *http.Request) (any, error) {
	id, who, err := s.tree(r)
	if err != nil {
		return nil, err
	}
	files, err := s.Control.TeamFiles(r.Context(), id, who)
	if err != nil {
		return nil, err
	}
	const most = 5000
	return fileList{append([]control.JobFile{}, files[:min(len(files), most)]...), len(files) > most}, nil
}

// fileOfTeam reads a file of the tree that is asked for.
func (s *Server) fileOfTeam(r *http.Request) (control.JobFile, []byte, error) {
	id, who, err := s.tree(r)
	if err != nil {
		return control.JobFile{}, nil, err
	}
	p, err := below(r)
	if err != nil {
		return control.JobFile{}, nil, err
	}
	f, content, err := s.Control.TeamFile(r.Context(), id, who, p)
	if _, none := errors.AsType[*control.NotFound](err); none {
		err = missing("There is no file %q in this tree.", clip(p, 200))
	}
	return f, content, err
}

func (s *Server) teamFile(r *http.Request) (any, error) {
	f, content, err := s.fileOfTeam(r)
	if err != nil {
		return nil, err
	}
	return s.shown(f, content, false), nil
}

func (s *Server) teamDownload(w http.ResponseWriter, r *http.Request) {
	f, content, err := s.fileOfTeam(r)
	s.save(w, r, f, content, err)
}

// teamDiff is what a tree has become; with a path only of that file.
func (s *Server) teamDiff(r *http.Request) (any, error) {
	id, who, err := s.tree(r)
	if err != nil {
		return nil, err
	}
	files, err := s.Control.TeamDiff(r.Context(), id, who)
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("path") != "" {
		p, err := below(r)
		if err != nil {
			return nil, err
		}
		var one []control.FileDiff
		for _, f := range files {
			if f.Path == p {
				one = append(one, f)
			}
		}
		files = one
	}
	return diffOf(files), nil
}
