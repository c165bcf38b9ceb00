// Package docker runs commands in a container of Docker, or of anything that
// speaks its API.
//
// A box is one container, named after its flow and owner: the place at the same
// paths as outside, an image that cannot be written, a home and temporary files
// in memory, no capabilities, no way to gain any, and the engine's own filter of
// system calls. Opening a box removes the container that was there and makes
// another, so rights change by a new container alone; in between there is none.
// Images are not pulled unless [Options.Pull] says so. An image needs sh, sleep
// and a file system that can hold the place.
//
// A command is an exec of a small script, which runs it under the container's
// init as the one who adopts its orphans, and kills what it left behind; so
// whoever it started, in whatever session, is found again by descent alone. A
// command that will not end in any other way takes the container down with it,
// and the next one finds it started anew, with nothing in its home.
//
// Containers carry the identity of the process that made them; [Engine.Sweep]
// removes those of dead processes whose flow nobody drives.
//
// What a command makes in the place belongs to the user that runs this program.
// With [Options.Network] bridge, the loopback of a box is its own. The filter is
// Docker's: files may be made setuid, which has no effect in a box, and one from
// before version 23 lets io_uring and vsock through, by which the host of a
// virtual machine may be reached.
//
// Goroutines: each command has one that follows it and one that reads its
// output, both over when Wait returns, and one that writes its input, over when
// the input has ended. Close waits for all commands.
package docker

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"conclave/internal/sandbox"
	"conclave/internal/sandbox/internal/layout"
)

// Options are how containers are made.
type Options struct {
	// Host is where the engine listens; empty is DOCKER_HOST, or the usual socket.
	Host string
	// Image is used by boxes that name none.
	Image string
	// Pull fetches an image that is missing. Without it that is an error.
	Pull bool
	// Network is the network of boxes that have one; empty is bridge.
	Network string
	// Boxes is where boxes keep their files; empty is a temporary folder.
	Boxes string
}

// An Engine is Docker.
type Engine struct {
	options Options
	shared  *shared
}

// shared is what engines for one Docker have in common.
type shared struct {
	holds layout.Holds
	mu    sync.Mutex
	api   *client.Client
	user  *user // how files come to be ours; nil until asked
}

var _ interface {
	sandbox.Engine
	sandbox.Sweeper
	sandbox.Secluded
} = (*Engine)(nil)

// New is an engine. Nothing is connected to before it is used.
func New(o Options) *Engine { return &Engine{options: o, shared: &shared{}} }

// With is the same engine with another network for boxes that have one.
func (e *Engine) With(network string) *Engine {
	other := *e
	other.options.Network = network
	return &other
}

// Name is docker.
func (*Engine) Name() string { return "docker" }

// Close closes connections that are not in use. Boxes are closed by themselves.
func (e *Engine) Close() error {
	e.shared.mu.Lock()
	defer e.shared.mu.Unlock()
	if e.shared.api == nil {
		return nil
	}
	return e.shared.api.Close()
}

// clocks are how long Docker is waited for.
type clocks struct {
	answer  time.Duration // for an answer
	removal time.Duration // for a container to be gone
	watch   time.Duration // between two looks at a command that says nothing
	settle  time.Duration // for Docker to notice that a command has ended
}

var usual = clocks{answer: 10 * time.Second, removal: 20 * time.Second, watch: 5 * time.Second, settle: 5 * time.Second}

func (e *Engine) connect() (*client.Client, error) {
	e.shared.mu.Lock()
	defer e.shared.mu.Unlock()
	if e.shared.api != nil {
		return e.shared.api, nil
	}
	if runtime.GOOS == "windows" {
		return nil, errors.New("a container cannot have the paths of Windows; run the program in WSL")
	}
	options := []client.Opt{client.FromEnv}
	if e.options.Host != "" {
		options = append(options, client.WithHost(e.options.Host))
	}
	api, err := client.New(options...)
	if err != nil {
		return nil, fmt.Errorf("set up Docker: %w; correct DOCKER_HOST", err)
	}
	e.shared.api = api
	return api, nil
}

// Probe asks whether Docker answers and has the image.
func (e *Engine) Probe(ctx context.Context) error {
	api, err := e.reach(ctx)
	if err != nil {
		return err
	}
	if e.options.Image == "" || e.options.Pull {
		return nil
	}
	_, err = e.image(ctx, api, e.options.Image)
	return err
}

// reach connects and says what to do if that fails.
func (e *Engine) reach(ctx context.Context) (*client.Client, error) {
	api, err := e.connect()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, usual.answer)
	defer cancel()
	ping, err := api.Ping(ctx, client.PingOptions{NegotiateAPIVersion: true})
	switch host := api.DaemonHost(); {
	case errors.Is(err, os.ErrPermission):
		return nil, fmt.Errorf("no access to Docker at %s: become a member of the group docker, or set DOCKER_HOST to a Docker of your own: %w", host, err)
	case err != nil:
		return nil, fmt.Errorf("no answer from Docker at %s: start it, set DOCKER_HOST to where it listens, or choose another sandbox: %w", host, err)
	case ping.OSType != "" && ping.OSType != "linux":
		return nil, fmt.Errorf("the containers of Docker at %s are of %s; switch it to Linux", host, ping.OSType)
	}
	return api, nil
}

// image is the environment of an image.
func (e *Engine) image(ctx context.Context, api *client.Client, name string) ([]string, error) {
	if name == "" {
		return nil, errors.New("there is no image to make a container of; name one (shell.image)")
	}
	info, err := api.ImageInspect(ctx, name)
	if errdefs.IsNotFound(err) && e.options.Pull {
		if err := pull(ctx, api, name); err != nil {
			return nil, err
		}
		info, err = api.ImageInspect(ctx, name)
	}
	switch {
	case errdefs.IsNotFound(err):
		return nil, fmt.Errorf("the image %s is not here; fetch it: docker pull %s", name, name)
	case err != nil:
		return nil, fmt.Errorf("look at the image %s: %w", name, err)
	case info.Config == nil:
		return nil, nil
	}
	return info.Config.Env, nil
}

func pull(ctx context.Context, api *client.Client, name string) error {
	progress, err := api.ImagePull(ctx, name, client.ImagePullOptions{})
	if err == nil {
		err = progress.Wait(ctx)
	}
	if err != nil {
		return fmt.Errorf("pull the image %s: %w", name, err)
	}
	return nil
}

// user is who commands run as, so that what they write is ours.
type user struct {
	id     string // uid:gid in the container; empty is the image's
	userns string // user namespace
}

func (e *Engine) as(ctx context.Context, api *client.Client) (user, error) {
	e.shared.mu.Lock()
	defer e.shared.mu.Unlock()
	if e.shared.user != nil {
		return *e.shared.user, nil
	}
	info, err := api.Info(ctx, client.InfoOptions{})
	if err != nil {
		return user{}, fmt.Errorf("ask what Docker can do: %w", err)
	}
	u := userOf(os.Getuid(), os.Getgid(), info.Info.SecurityOptions)
	e.shared.user = &u
	return u, nil
}

// userOf is who we are in a container. The root of a Docker without rights is
// its user outside; where users are mapped, we ask not to be.
func userOf(uid, gid int, security []string) user {
	has := func(name string) bool {
		return slices.ContainsFunc(security, func(s string) bool { return s == "name="+name || strings.HasPrefix(s, "name="+name+",") })
	}
	switch {
	case uid < 0:
		return user{}
	case has("rootless"):
		return user{id: "0:0"}
	case has("userns"):
		return user{id: fmt.Sprintf("%d:%d", uid, gid), userns: "host"}
	}
	return user{id: fmt.Sprintf("%d:%d", uid, gid)}
}

// exposed is an error if a box would hold the engine's own socket: whoever
// reaches that owns the machine.
func exposed(host string, items []layout.Item) error {
	u, err := url.Parse(host)
	if err != nil || u.Scheme != "unix" {
		return nil
	}
	socket, err := filepath.EvalSymlinks(u.Path)
	if err != nil {
		return nil // not there to be reached
	}
	var inner layout.Item
	for _, i := range items { // the last one that holds it decides
		if i.Path == socket || layout.Below(socket, i.Path) {
			inner = i
		}
	}
	if inner.Path == "" || inner.What == layout.Conceal || inner.What == layout.Blank {
		return nil
	}
	return fmt.Errorf("%s holds Docker's own socket %s, by which a box could reach everything; mount another folder", inner.Path, socket)
}
