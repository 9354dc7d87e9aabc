package remote

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// A redirect to a special address is refused, whoever the target says that it is, and
// so is one by way of a server that is not special. The server that the user names may
// have such an address, and redirect to itself.
func TestRedirectsToSpecialAddresses(t *testing.T) {
	t.Parallel()
	asked := make(map[string]int)
	inner := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked["inner"]++
		object([]byte("secret"), `"one"`, w, r)
	})
	outer := serve(t, func(w http.ResponseWriter, r *http.Request) {
		to := r.URL.Query().Get("to")
		if r.URL.Path == "/itself" {
			object([]byte("own"), `"one"`, w, r)
			return
		}
		http.Redirect(w, r, to, http.StatusFound)
	})
	port := inner[strings.LastIndex(inner, ":"):]
	loopback := func(a netip.Addr) bool { return a.IsLoopback() || a.IsLinkLocalUnicast() }
	for to, refused := range map[string]string{
		"/itself": "", strings.Replace(outer, "/object", "/itself", 1): "", inner: "127.0.0.1", "https://localhost" +
			port: "a special address",
		"https://169.254.169.254/latest/meta-data/": "169.254.169.254",
	} {
		content, err := ReadAll(Guarded(t.Context(), loopback), outer+"?to="+to, 10)
		if refused == "" {
			if err != nil || string(content) != "own" {
				t.Errorf("%s: %q, %v", to, content, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), refused) || !strings.Contains(err.Error(), "--allow-private") ||
			errors.Is(err, ErrTransfer) {
			t.Errorf("%s: %q, %v", to, content, err)
		}
	}
	if asked["inner"] > 0 {
		t.Errorf("asked %v", asked)
	}
	for _, ctx := range []func() (string, error){
		func() (string, error) { b, err := ReadAll(t.Context(), outer+"?to="+inner, 10); return string(b), err },
		func() (string, error) {
			b, err := ReadAll(Guarded(Guarded(t.Context(), loopback), nil), outer+"?to="+inner, 10)
			return string(b), err
		},
	} {
		if got, err := ctx(); got != "secret" || err != nil {
			t.Errorf("without a guard: %q, %v", got, err)
		}
	}
}

// Neither an error nor a request has the query of a URL, which may be its signature.
func TestQueriesAreSecret(t *testing.T) {
	t.Parallel()
	const secret = "X-Amz-Signature=5ec7e7"
	var referers []string
	inner := serve(t, func(w http.ResponseWriter, r *http.Request) {
		referers = append(referers, r.Header.Get("Referer"))
		object([]byte("content"), `"one"`, w, r)
	})
	signed := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.URL.RawQuery, secret) {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		switch r.URL.Query().Get("as") {
		case "moved":
			http.Redirect(w, r, inner+"?"+secret, http.StatusFound)
		case "badly moved":
			w.Header().Set("Location", "https://%zz/?"+secret)
			w.WriteHeader(http.StatusFound)
		case "to http":
			w.Header().Set("Location", "http://a.example/?"+secret)
			w.WriteHeader(http.StatusFound)
		case "round":
			w.Header().Set("Location", r.URL.String())
			w.WriteHeader(http.StatusFound)
		case "another range":
			w.Header().Set("Content-Range", "bytes 5-9/10")
			w.WriteHeader(http.StatusPartialContent)
		case "":
			w.WriteHeader(http.StatusNotFound)
		default:
			w.WriteHeader(http.StatusTeapot)
		}
	})
	for _, as := range []string{"as=badly+moved&", "as=to+http&", "as=round&", "as=another+range&", "", "as=teapot&"} {
		for _, given := range []string{signed, strings.Replace(signed, "https", "HTTPS", 1)} {
			_, err := ReadAll(t.Context(), given+"?"+as+secret, 100)
			if err == nil || strings.Contains(err.Error(), "5ec7e7") || !strings.Contains(err.Error(), given[8:]) {
				t.Errorf("%s: %v", as, err)
			}
		}
	}
	for _, given := range []string{"https://a.example:port/x?" + secret, "https://a.example/%zz?" + secret,
		"https://user:5ec7e7@a.example:x/", "gs2://a?" + secret} {
		_, err := ReadAll(t.Context(), given, 100)
		_, _, e := NewServers(Limits{}).Open(t.Context(), given)
		for _, err := range []error{err, e} {
			if err == nil || strings.Contains(err.Error(), "5ec7e7") {
				t.Errorf("%s: %v", given, err)
			}
		}
	}
	if content, err := ReadAll(t.Context(), signed+"?as=moved&"+secret, 100); string(content) != "content" || err != nil {
		t.Errorf("%q, %v", content, err)
	}
	if len(referers) != 2 || strings.Join(referers, "") != "" {
		t.Errorf("referers %q", referers)
	}
}

func TestName(t *testing.T) {
	for given, want := range map[string]string{
		"https://a.example/x.warc.gz?sig=1": "https://a.example/x.warc.gz", "https://a.example/x#f?y": "https://a.example/x",
		"https://a.example?sig=1": "https://a.example",
		"https://a.example/x#2":   "https://a.example/x#2", "https://a.example/x?y#2": "https://a.example/x",
		"https://a.example/x#2?y":        "https://a.example/x",
		"https://user:pass@a.example/@x": "https://a.example/@x", "HTTPS://A.example/x?y": "HTTPS://A.example/x",
		"http://a.example/x?y":   "http://a.example/x",
		"https://a.example/%3Fx": "https://a.example/%3Fx", "https://a.example/x?y?z=https://b/c": "https://a.example/x",
		"https://user:pa/ss@a.example/x":    "https://a.example/x",
		"https://user:pa?s#s@a.example:1/x": "https://a.example:1/x", "https://user:%zz@a.example/x": "https://a.example/x",
		"https://a.example:8443/@x": "https://a.example:8443/@x", "https://[::1]/@x": "https://[::1]/@x",
		"https://a.example:/@x":     "https://a.example:/@x",
		"s3://key:se/cret@bucket/x": "s3://bucket/x", "s3://key@bucket/x": "s3://bucket/x",
		"s3://bucket/@x":        "s3://bucket/@x",
		"s3://bucket/what?.csv": "s3://bucket/what?.csv", "a?b": "a?b", "/srv/a#b": "/srv/a#b", "-": "-", "": "",
		"dir/a://b?c": "dir/a://b?c",
	} {
		if got := Name(given); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, same := range [][]string{
		{"https://a.example/x~y/z", "HTTPS://A.Example:443/x%7Ey/z", "https://a.example./x%7ey/./z#part",
			"https://a.example/w/../x~y//z"},
		{"https://a.example/", "https://a.example", "https://a.example:443"},
		{"https://a.example/x/", "https://a.example/x/./"},
		{"https://a.example/%2Fx?a=%2F~", "https://a.example/%2fx?a=%2f%7E"},
	} {
		for _, given := range same {
			if got := Canonical(given); got != same[0] {
				t.Errorf("%s: %s, want %s", given, got, same[0])
			}
		}
	}
	for _, given := range []string{"https://a.example/X", "https://a.example:8443/", "https://a.example/x?a",
		"https://a.example/%2F", "s3://b/a//x", "s3://b/%7E", "x/../y", "https://%zz/"} {
		if got := Canonical(given); got != given {
			t.Errorf("%s: %s", given, got)
		}
	}
}

// A proxy of the environment may have any address, and looks up names itself.
func TestGuardBehindAProxy(t *testing.T) {
	real := client.Proxy
	defer func() { client.Proxy = real }()
	to := func(target string) *http.Request {
		r, err := http.NewRequest(http.MethodGet, target, nil)
		must(t, err)
		return r
	}
	client.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	if by, err := guardedClient(to("https://a.example/"), netip.Addr.IsLoopback); by != guarded || err != nil {
		t.Errorf("without a proxy: %v", err)
	}
	client.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://127.0.0.1:3128") }
	if by, err := guardedClient(to("https://a.example/"), netip.Addr.IsLoopback); by != client || err != nil {
		t.Errorf("a name: %v", err)
	}
	if _, err := guardedClient(to("https://[::1]/"), netip.Addr.IsLoopback); !errors.As(err, new(permanent)) {
		t.Errorf("an address: %v", err)
	}
}
