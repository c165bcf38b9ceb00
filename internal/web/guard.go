package web

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// NewToken is a token that nobody guesses.
func NewToken() string { return rand.Text() }

// Listen listens on an address of this machine; any other is refused. There is no
// encryption, and whoever has the token can have commands run.
func Listen(address string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, &net.AddrError{Err: "an address is host:port, for example 127.0.0.1:8080", Addr: address}
	}
	if !loopback(host) {
		return nil, &net.AddrError{
			Err:  "the cockpit listens on this machine only (127.0.0.1, ::1 or localhost): it has no encryption, and whoever reads its token along the way can run commands here. To reach it from elsewhere forward a port: ssh -L 8080:127.0.0.1:PORT",
			Addr: address,
		}
	}
	return net.Listen("tcp", address)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// policy is what pages may do: run this server's script, nothing else's.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

// guarded lets through who is on this machine, calls the server by its name, is no
// other page, and has the token.
func (s *Server) guarded(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	cross.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.answer(w, r, nil, forbidden("requests of other pages are not served"))
	}))
	inner := cross.Handler(s.authorized(next))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if why := s.foreign(r); why != "" {
			s.answer(w, r, nil, forbidden(why))
			return
		}
		inner.ServeHTTP(w, r)
	})
}

func forbidden(why string) error {
	return &problem{status: http.StatusForbidden, Code: "forbidden", Text: "Forbidden: " + why + "."}
}

// foreign says why a request does not come from a page of this server. A name that
// is not of this machine may be one that somebody else has made lead here.
func (s *Server) foreign(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host = strings.Trim(host, "[]"); !loopback(host) && !slices.Contains(s.Hosts, host) {
		return "this server is called localhost or 127.0.0.1, and not " + clip(host, 100)
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		if u, err := url.Parse(origin); err != nil || u.Host != r.Host {
			return "requests of other pages are not served"
		}
	}
	return ""
}

// cookie is the name under which a browser keeps the token. Cookies know no
// ports, so each project's has a name of its own.
func (s *Server) cookie() string {
	sum := sha256.Sum256([]byte(s.Token))
	return "conclave_" + hex.EncodeToString(sum[:4])
}

func (s *Server) is(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.Token)) == 1
}

// authorized lets through who has the token. The printed address has it; a browser
// that comes with that is given it as a cookie, and sent on without it.
func (s *Server) authorized(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api := strings.HasPrefix(r.URL.Path, "/api/")
		q := r.URL.Query()
		if r.Method == http.MethodGet && !api && q.Has("token") && s.is(q.Get("token")) {
			http.SetCookie(w, &http.Cookie{
				Name: s.cookie(), Value: s.Token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
				MaxAge: 30 * 24 * 60 * 60,
			})
			q.Del("token")
			// The path is our own: one that begins with // would lead elsewhere.
			lead(w, r, (&url.URL{Path: "/" + strings.TrimLeft(r.URL.Path, "/"), RawQuery: q.Encode()}).String())
			return
		}
		if s.known(r) {
			next.ServeHTTP(w, r)
			return
		}
		if api {
			w.Header().Set("WWW-Authenticate", `Bearer realm="conclave"`)
			s.answer(w, r, nil, &problem{
				status: http.StatusUnauthorized, Code: "unauthorized", Text: "Unauthorized: this browser has not shown the token.",
				Do: "Open the address that conclave serve printed.",
			})
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("This is Conclave's cockpit, and this browser has not shown its token.\nOpen the address that conclave serve printed; it ends in ?token=…\n"))
	})
}

// lead sends a browser on. To whoever follows a link of another page it does not
// give a strict cookie back, redirected or not; a page of our own leads on then.
func lead(w http.ResponseWriter, r *http.Request, to string) {
	if r.Header.Get("Sec-Fetch-Site") != "cross-site" {
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	to = html.EscapeString(to)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!doctype html><meta http-equiv="refresh" content="0;url=`+to+`"><title>Conclave</title><a href="`+to+`">Go on</a>`+"\n")
}

func (s *Server) known(r *http.Request) bool {
	if scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return s.is(strings.TrimSpace(token))
	}
	c, err := r.Cookie(s.cookie())
	return err == nil && s.is(c.Value)
}
