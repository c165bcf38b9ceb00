package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
	"github.com/moby/moby/client"

	"conclave/internal/event"
	"conclave/internal/policy"
	"conclave/internal/proc"
	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/layout"
)

const (
	home = "/home/agent"
	tmp  = "/tmp"
)

// Labels of a container: whose it is, which process made it, and what for.
const (
	labelFlow    = "conclave.flow"
	labelOwner   = "conclave.owner"
	labelProcess = "conclave.process"
	labelPlace   = "conclave.place"
)

// labels are those of a box. A process without identity is not named.
func labels(s sandbox.Spec) (map[string]string, error) {
	place, err := json.Marshal(s.Place)
	if err != nil {
		return nil, fmt.Errorf("name the place: %w", err)
	}
	sum := sha256.Sum256(place)
	out := map[string]string{labelFlow: string(s.Flow), labelOwner: s.Owner, labelPlace: hex.EncodeToString(sum[:8])}
	if id, err := proc.Self(); err == nil {
		body, err := json.Marshal(id)
		if err != nil {
			return nil, fmt.Errorf("name the process: %w", err)
		}
		out[labelProcess] = string(body)
	}
	return out, nil
}

// name is what the container of a box is called. What Docker takes for no name
// is left out, and a hash tells such names apart.
func name(flow event.FlowID, owner string) string {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)) {
				return r
			}
			return -1
		}, s)
	}
	out := "conclave-" + plain(string(flow)) + "-" + plain(owner)
	if plain(string(flow)) == string(flow) && plain(owner) == owner {
		return out
	}
	sum := sha256.Sum256([]byte(string(flow) + "\x00" + owner))
	return out + "-" + hex.EncodeToString(sum[:4])
}

// plan is everything a container is made of.
type plan struct {
	spec    sandbox.Spec
	mark    string // what its first process says first
	image   string
	network string
	user    user
	labels  map[string]string
	mounts  []mount.Mount
}

func (p plan) options() client.ContainerCreateOptions {
	yes, l := true, p.spec.Limits
	host := &container.HostConfig{
		Mounts:         p.mounts,
		ReadonlyRootfs: true,
		Init:           &yes,
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges:true"},
		NetworkMode:    "none",
		UsernsMode:     container.UsernsMode(p.user.userns),
		IpcMode:        "private",
		LogConfig:      container.LogConfig{Type: "none"},
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		Tmpfs:          map[string]string{},
		// No swap besides: it would be a limit of twice as much.
		Resources: container.Resources{Memory: l.Memory, MemorySwap: l.Memory, NanoCPUs: int64(l.CPUs * 1e9)},
	}
	if l.Procs > 0 {
		n := int64(l.Procs)
		host.PidsLimit = &n
	}
	if p.spec.Network {
		host.NetworkMode = container.NetworkMode(p.network)
	}
	memory := "rw,exec,nosuid,nodev,mode=1777" // an image that has the folder decides about its mode
	if uid, gid, ok := strings.Cut(p.user.id, ":"); ok {
		memory += ",uid=" + uid + ",gid=" + gid
	}
	for _, dir := range []string{tmp, home} {
		if !slices.ContainsFunc(p.mounts, func(m mount.Mount) bool { return m.Target == dir }) {
			host.Tmpfs[dir] = memory
		}
	}
	return client.ContainerCreateOptions{
		Name:       name(p.spec.Flow, p.spec.Owner),
		HostConfig: host,
		Config: &container.Config{
			Image: p.image, User: p.user.id, Labels: p.labels, Hostname: "box", WorkingDir: "/",
			Entrypoint: []string{"sh", script("keep"), p.mark}, Cmd: []string{}, AttachStdout: true,
			// An image's own check would be a command nobody asked for.
			Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		},
	}
}

// mounts are the items of a layout as Docker takes them. What is hidden is
// covered by something empty that lies in dir. Before it could make a mount
// read-only with everything mounted inside, Docker is told to leave that out.
func mounts(items []layout.Item, dir string, shallow bool) ([]mount.Mount, error) {
	var out []mount.Mount
	for n, i := range items {
		m := mount.Mount{Type: mount.TypeBind, Source: i.Path, Target: i.Path}
		switch i.What {
		case layout.Read:
			m.ReadOnly = true
		case layout.Conceal, layout.Blank:
			m.ReadOnly = true
			m.Source = filepath.Join(dir, fmt.Sprintf("cover%d", n))
			if err := cover(m.Source, i, items); err != nil {
				return nil, err
			}
		}
		if m.ReadOnly && shallow {
			m.BindOptions = &mount.BindOptions{NonRecursive: true}
		}
		out = append(out, m)
	}
	return out, nil
}

// cover makes something empty to lie over an item, with room for what is
// brought back inside.
func cover(at string, i layout.Item, items []layout.Item) error {
	if i.What == layout.Blank {
		return touch(at)
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return fmt.Errorf("make an empty folder: %w", err)
	}
	for _, in := range items {
		if !layout.Below(in.Path, i.Path) {
			continue
		}
		room := filepath.Join(at, strings.TrimPrefix(in.Path, i.Path))
		info, err := os.Lstat(in.Path)
		if err != nil {
			return fmt.Errorf("look at %s: %w", in.Path, err)
		}
		if info.IsDir() {
			err = os.MkdirAll(room, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(room), 0o755); err == nil {
			err = touch(room)
		}
		if err != nil {
			return fmt.Errorf("make room in an empty folder: %w", err)
		}
	}
	return nil
}

func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDONLY, 0o444)
	if err != nil {
		return fmt.Errorf("make an empty file: %w", err)
	}
	return f.Close()
}

// env is the whole environment of a command. The image knows best where its
// programs are.
func env(image []string, s sandbox.Spec, c sandbox.Command) []string {
	var path []string
	for _, v := range image {
		if strings.HasPrefix(v, "PATH=") {
			path = []string{v}
		}
	}
	return sandbox.Env(home, tmp, path, s.Env, c.Env)
}

// workdir is where a command starts.
func workdir(p policy.Place, c sandbox.Command) string {
	if c.Dir != "" {
		return c.Dir
	}
	return p.Dir
}
