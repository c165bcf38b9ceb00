package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"conclave/internal/backend"
	"conclave/internal/backend/cli"
	"conclave/internal/backend/cli/clitest"
)

// get sends a request to a proxy with headers.
func get(t *testing.T, url string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })
	return res
}

// The real key goes to the model alone; the token gets there never, and nobody in
// who does not have it.
func TestProxy(t *testing.T) {
	for _, c := range []struct{ key, header, want string }{
		{"sk-real", "X-Api-Key", "x-api-key=sk-real authorization="},
		{"sk-real", "Authorization", "x-api-key= authorization=Bearer sk-real"},
		{"", "X-Api-Key", "x-api-key= authorization="},
	} {
		model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = io.WriteString(w, r.URL.Path+" x-api-key="+r.Header.Get("X-Api-Key")+" authorization="+r.Header.Get("Authorization")+" "+string(body))
		}))
		defer model.Close()
		p, err := cli.NewProxy(cli.Target{BaseURL: model.URL + "/base", Key: c.key, Header: c.header})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		for _, h := range [][]string{{"X-Api-Key", p.Token}, {"Authorization", "Bearer " + p.Token}} {
			got, err := io.ReadAll(get(t, p.URL+"/v1/messages", h...).Body)
			if want := "/base/v1/messages " + c.want + " body"; err != nil || string(got) != want {
				t.Errorf("with %s: %q, want %q (%v)", h[0], got, want, err)
			}
		}
		for _, h := range [][]string{nil, {"X-Api-Key", ""}, {"X-Api-Key", p.Token + "x"}, {"Authorization", "Bearer sk-real"}} {
			if res := get(t, p.URL+"/v1/messages", h...); res.StatusCode != http.StatusUnauthorized {
				t.Errorf("with %q: %s", h, res.Status)
			}
		}
	}
	if _, err := cli.NewProxy(cli.Target{BaseURL: "nowhere"}); err == nil {
		t.Error("an address without a host was taken")
	}
}

// A room with a network of its own is served at its doorway, and nobody who comes
// from elsewhere is, whatever he knows.
func TestProxyAtADoorway(t *testing.T) {
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "answer") }))
	defer model.Close()
	for from, want := range map[string]int{"127.0.0.0/8": http.StatusOK, "172.17.0.0/16": http.StatusUnauthorized} {
		room := secluded{clitest.NewRoom(t), backend.Doorway{Listen: "127.0.0.1", Name: "localhost", From: netip.MustParsePrefix(from)}, nil}
		p, err := cli.ProxyFor(t.Context(), room, cli.Target{BaseURL: model.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if res := get(t, p.URL, "X-Api-Key", p.Token); res.StatusCode != want || !strings.HasPrefix(p.URL, "http://localhost:") {
			t.Errorf("from %s at %s: %s", from, p.URL, res.Status)
		}
	}
	room := secluded{clitest.NewRoom(t), backend.Doorway{}, errors.New("there is no way out")}
	if _, err := cli.ProxyFor(t.Context(), room, cli.Target{BaseURL: model.URL}); backend.KindOf(err) != backend.Invalid || !strings.Contains(err.Error(), "no way out") {
		t.Errorf("without a doorway: %v", err)
	}
}

type secluded struct {
	*clitest.Room
	door backend.Doorway
	err  error
}

func (s secluded) Doorway(context.Context) (backend.Doorway, error) { return s.door, s.err }

// Each piece of an answer is passed on as it comes; closing cuts what is under way.
func TestProxyStreams(t *testing.T) {
	next := make(chan struct{})
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-next
		_, _ = io.WriteString(w, "second\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer model.Close()
	p, err := cli.NewProxy(cli.Target{BaseURL: model.URL})
	if err != nil {
		t.Fatal(err)
	}
	body := bufio.NewReader(get(t, p.URL, "X-Api-Key", p.Token).Body)
	if got, _ := body.ReadString('\n'); got != "first\n" {
		t.Errorf("read %q", got)
	}
	close(next)
	if got, _ := body.ReadString('\n'); got != "second\n" {
		t.Errorf("read %q", got)
	}
	p.Close()
	if _, err := body.ReadString('\n'); err == nil {
		t.Error("the answer was not cut")
	}
}

// Where nobody answers, the program and the turn are told which host that is; once it
// answers the trouble is over. A key that is refused is not worth another try, and is
// named by where it comes from.
func TestProxyTrouble(t *testing.T) {
	t.Setenv("SOME_KEY", "sk-wrong")
	key := backend.Key{Env: []string{"OTHER_KEY", "SOME_KEY"}}
	status := http.StatusUnauthorized
	model := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
	host := model.Listener.Addr().String()
	model.Listener.Close()
	p, err := cli.NewProxy(cli.Target{BaseURL: "http://" + host, Key: "sk-wrong", Header: "X-Api-Key"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	res := get(t, p.URL, "X-Api-Key", p.Token)
	var body struct {
		Type  string
		Error struct{ Type, Message string }
	}
	if err := json.NewDecoder(res.Body).Decode(&body); err != nil || res.StatusCode != http.StatusBadGateway || body.Type != "error" || !strings.HasPrefix(body.Error.Message, host+" cannot be reached") {
		t.Errorf("%s with %+v, %v", res.Status, body, err)
	}
	e := p.Blame(&backend.Error{Kind: backend.Overloaded, Message: "502"}, key)
	if e.Kind != backend.Unreachable || !strings.HasPrefix(e.Message, host+" cannot be reached") {
		t.Errorf("blamed %v", e)
	}
	l, err := net.Listen("tcp", host)
	if err != nil {
		t.Skip("the port was taken meanwhile: ", err)
	}
	model.Listener = l
	model.Start()
	defer model.Close()
	if res := get(t, p.URL, "X-Api-Key", p.Token); res.StatusCode != status || res.Header.Get("X-Should-Retry") != "false" {
		t.Errorf("%s, %v", res.Status, res.Header)
	}
	if e := p.Trouble(); e != nil {
		t.Errorf("it still has %v", e)
	}
	if e := p.Blame(&backend.Error{Kind: backend.Auth, Message: "no"}, key); e.Kind != backend.Auth || e.Message != "SOME_KEY was refused by "+host+": no" {
		t.Errorf("blamed %v", e)
	}
}
