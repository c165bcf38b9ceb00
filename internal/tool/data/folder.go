package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"conclave/internal/confine"
	"conclave/internal/datasource"
	"conclave/internal/tool"
)

// folder is an open directory.
func (k *kit) folder(ctx context.Context, name string) (*datasource.Folder, error) {
	conn, err := k.set.Conn(ctx, name)
	if err != nil {
		return nil, err
	}
	f, ok := conn.(*datasource.Folder)
	if !ok {
		return nil, errors.New("it is a database; use data_query")
	}
	return f, nil
}

// lost tells the model what is wrong with a path.
func lost(ctx context.Context, source, path string, err error) (tool.Result, error) {
	if ctx.Err() != nil {
		return tool.Result{}, ctx.Err()
	}
	if r, ok := errors.AsType[*confine.Refused](err); ok {
		return tool.Failed(r.Reason), nil
	}
	path = datasource.OneLine(fmt.Sprintf("%.200s", path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Failed(fmt.Sprintf("There is no %s in %s. Use data_list to see what there is.", path, source)), nil
	case errors.Is(err, fs.ErrPermission):
		return tool.Failed(fmt.Sprintf("The system does not let us do this to %s: permission denied.", path)), nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return tool.Failed(fmt.Sprintf("It did not work on %s: %v.", path, err)), nil
}

// orHere is a path, or the directory itself if none is named.
func orHere(path string) string {
	if path == "" {
		return "."
	}
	return path
}
