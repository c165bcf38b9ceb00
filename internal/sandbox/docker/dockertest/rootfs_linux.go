package dockertest

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
)

// image is a root directory as it is put together.
type image struct {
	tar *tar.Writer
	err error
	has map[string]bool
}

// rootfs is a root directory in which there is nothing but busybox, the programs
// that it is to hold, and libraries.
func rootfs(busybox string, s Setup) (io.Reader, error) {
	applets, err := exec.Command(busybox, "--list").Output()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	i := &image{tar: tar.NewWriter(&out), has: map[string]bool{"/": true, ".": true}}
	for _, dir := range []string{"/etc", "/dev", "/proc", "/sys", "/tmp", "/home"} {
		i.dir(dir)
	}
	i.copy("/bin/busybox", busybox)
	i.file("/etc/passwd", 0o644, []byte("root:x:0:0::/:/bin/sh\n"))
	for name := range strings.FieldsSeq(string(applets)) {
		i.add(tar.Header{Typeflag: tar.TypeSymlink, Name: path.Join("/bin", name), Linkname: "/bin/busybox", Mode: 0o777}, nil)
	}
	for _, p := range s.Holds {
		i.copy(path.Join("/bin", path.Base(p)), p)
	}
	for _, p := range slices.Concat(s.Programs, s.Holds) {
		files, err := libraries(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			i.copy(f, f)
		}
	}
	if i.err == nil {
		i.err = i.tar.Close()
	}
	return &out, i.err
}

// add puts something into the image, with the folders it lies in, once.
func (i *image) add(h tar.Header, body []byte) {
	if i.err != nil || i.has[h.Name] {
		return
	}
	i.dir(path.Dir(h.Name))
	i.has[h.Name] = true
	h.Name, h.Size = strings.TrimPrefix(h.Name, "/"), int64(len(body))
	if i.err = i.tar.WriteHeader(&h); i.err == nil {
		_, i.err = i.tar.Write(body)
	}
}

func (i *image) dir(name string) {
	if !i.has[name] {
		i.add(tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755}, nil)
	}
}

func (i *image) file(name string, mode int64, body []byte) {
	i.add(tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode}, body)
}

func (i *image) copy(name, from string) {
	body, err := os.ReadFile(from)
	if err != nil && i.err == nil {
		i.err = err
	}
	i.file(name, 0o755, body)
}
