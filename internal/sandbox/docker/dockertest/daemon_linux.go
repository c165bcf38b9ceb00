package dockertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/moby/moby/client"
)

// A Daemon is a Docker engine.
type Daemon struct {
	program string
	dir     string
	bridge  *bridge // nil if its containers have no network but the machine's
	cmd     *exec.Cmd
	ended   chan struct{} // closed when it has ended and its log was read
}

// Start starts an engine and gives it its image, in which the given programs
// find the libraries they need.
func Start(programs ...string) (*Daemon, error) { return Setup{Programs: programs}.Start() }

// Start starts the engine and gives it its image.
func (s Setup) Start() (*Daemon, error) {
	program, err := exec.LookPath("dockerd")
	if err != nil {
		return nil, fmt.Errorf("dockerd: %w: install docker.io", ErrMissing)
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return nil, fmt.Errorf("busybox: %w: install busybox-static", ErrMissing)
	}
	if os.Getuid() != 0 {
		return nil, fmt.Errorf("dockerd: %w: only root can start it", ErrMissing)
	}
	dir, err := os.MkdirTemp("", "dockerd")
	if err != nil {
		return nil, err
	}
	d := &Daemon{program: program, dir: dir}
	if s.Bridge {
		if d.bridge, err = newBridge(); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	if err := d.Again(); err != nil {
		return nil, errors.Join(err, d.clear())
	}
	if err := d.load(busybox, s); err != nil {
		return nil, errors.Join(err, d.Stop())
	}
	return d, nil
}

// Host is where it listens.
func (d *Daemon) Host() string { return "unix://" + filepath.Join(d.dir, "docker.sock") }

// Again starts it after it was killed. What ran in it is ended then.
func (d *Daemon) Again() error {
	settings := filepath.Join(d.dir, "daemon.json") // not the machine's
	if err := os.WriteFile(settings, []byte("{}"), 0o600); err != nil {
		return err
	}
	pidfile := filepath.Join(d.dir, "pid")
	// Of one that was killed; whoever has the pids now is somebody else.
	_ = os.Remove(pidfile)
	_ = os.Remove(filepath.Join(d.dir, "exec", "containerd", "containerd.pid"))
	network := "none"
	if d.bridge != nil {
		network = d.bridge.name
	}
	d.cmd = exec.Command(d.program,
		"--config-file", settings, "--data-root", filepath.Join(d.dir, "data"), "--exec-root", filepath.Join(d.dir, "exec"),
		"--pidfile", pidfile, "--host", d.Host(), "--containerd-namespace", filepath.Base(d.dir), "--containerd-plugins-namespace", filepath.Base(d.dir)+".plugins",
		"--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false", "--userland-proxy=false", "--bridge="+network)
	d.cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + d.dir}
	// A session of its own: an interrupt at the terminal is for the test.
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	log, err := d.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := d.cmd.Start(); err != nil {
		return err
	}
	d.ended = make(chan struct{})
	ready := make(chan struct{})
	var said []string // valid after ended
	go func() {
		defer close(d.ended)
		said = follow(log, ready)
		_ = d.cmd.Wait()
	}()
	select {
	case <-ready:
		return nil
	case <-d.ended:
		return fmt.Errorf("dockerd ended: %s", strings.Join(said, "\n"))
	case <-time.After(time.Minute):
		d.Kill()
		return fmt.Errorf("dockerd did not come up: %s", strings.Join(said, "\n"))
	}
}

// follow reads a log, says when it says that the API is there, and returns its
// last lines.
func follow(log io.Reader, ready chan<- struct{}) []string {
	var last []string
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		if ready != nil && strings.Contains(lines.Text(), "API listen on") {
			close(ready)
			ready = nil
		}
		last = append(last, lines.Text())
		last = last[max(0, len(last)-20):]
	}
	_, _ = io.Copy(io.Discard, log)
	return last
}

// Kill kills it, as if it had crashed. What runs in it goes on.
func (d *Daemon) Kill() {
	_ = d.cmd.Process.Kill()
	<-d.ended
}

// Pause has it answer nobody any more, or again.
func (d *Daemon) Pause(on bool) error {
	if on {
		return d.cmd.Process.Signal(syscall.SIGSTOP)
	}
	return d.cmd.Process.Signal(syscall.SIGCONT)
}

// Stop ends it with everything that runs in it and removes its files. One that
// was killed is started for that: nobody else can end what it left.
func (d *Daemon) Stop() error {
	select {
	case <-d.ended:
		if err := d.Again(); err != nil {
			return err
		}
	default:
	}
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
	case <-time.After(time.Minute):
		d.Kill()
		return errors.New("dockerd had to be killed")
	}
	return errors.Join(unmount(d.dir), d.clear())
}

// clear removes what it had of the machine.
func (d *Daemon) clear() error {
	err := os.RemoveAll(d.dir)
	if d.bridge != nil {
		err = errors.Join(err, d.bridge.remove())
	}
	return err
}

// unmount takes away what dockerd leaves mounted below its directory.
func unmount(dir string) error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(table)) {
		if f := strings.Fields(line); len(f) > 4 && strings.HasPrefix(f[4], dir+"/") {
			_ = syscall.Unmount(f[4], syscall.MNT_DETACH)
		}
	}
	return nil
}

// Left are the names of all containers.
func (d *Daemon) Left(ctx context.Context) ([]string, error) {
	api, err := client.New(client.WithHost(d.Host()))
	if err != nil {
		return nil, err
	}
	defer api.Close()
	all, err := api.ContainerList(ctx, client.ContainerListOptions{All: true})
	var out []string
	for _, c := range all.Items {
		out = append(out, strings.Join(c.Names, " "))
	}
	return out, err
}

// load makes the image.
func (d *Daemon) load(busybox string, s Setup) error {
	api, err := client.New(client.WithHost(d.Host()))
	if err != nil {
		return err
	}
	defer api.Close()
	root, err := rootfs(busybox, s)
	if err != nil {
		return fmt.Errorf("make an image of busybox: %w", err)
	}
	res, err := api.ImageImport(context.Background(), client.ImageImportSource{Source: root, SourceName: "-"}, Image, client.ImageImportOptions{})
	if err != nil {
		return fmt.Errorf("import the image: %w", err)
	}
	_, err = io.Copy(io.Discard, res)
	return errors.Join(err, res.Close())
}
