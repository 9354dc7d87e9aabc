package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// mostRedirects bounds the redirects from the URL of an object to its bytes.
const mostRedirects = 10

type (
	guardKey   struct{}
	unnamedKey struct{}
)

// Guarded returns a context in which no redirect leads to an address that isSpecial
// reports, such as one of this machine or of a private network: a server of archives is
// somebody else's, and would choose what this machine asks there. The server that the
// user names may have any address, and redirect to itself. nil lets all redirects pass.
// See [Unnamed] for URLs that the user does not name.
func Guarded(ctx context.Context, isSpecial func(netip.Addr) bool) context.Context {
	return context.WithValue(ctx, guardKey{}, isSpecial)
}

func guardOf(ctx context.Context) func(netip.Addr) bool {
	isSpecial, _ := ctx.Value(guardKey{}).(func(netip.Addr) bool)
	return isSpecial
}

// Unnamed returns a context for a URL that a file names, and not the user: the guard of
// ctx holds for its server as for those that redirects lead to.
func Unnamed(ctx context.Context) context.Context { return context.WithValue(ctx, unnamedKey{}, true) }

func special(addr netip.Addr) error {
	return permanent{fmt.Errorf("a redirect, a list or an index leads to %s, a special address, which only robocensus "+
		"run --allow-private asks", addr)}
}

// refuseSpecial refuses to dial a special address, after its name is looked up.
func refuseSpecial(ctx context.Context, _, address string, _ syscall.RawConn) error {
	isSpecial := guardOf(ctx)
	to, err := netip.ParseAddrPort(address)
	if err == nil && isSpecial != nil && isSpecial(to.Addr()) {
		err = special(to.Addr())
	}
	return err
}

// follow asks for a URL and follows redirects within https. It sends no Referer: the URL
// may be signed.
func follow(ctx context.Context, rawURL string, header http.Header) (*http.Response, error) {
	asked, err := url.Parse(rawURL)
	if err != nil {
		return nil, permanent{errors.Unwrap(err)} // without the URL
	}
	for to, n := asked, 0; ; n++ {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
		if err != nil {
			return nil, permanent{errors.New("is not a URL that can be asked for")}
		}
		r.Header = header.Clone()
		if user := to.User; user != nil {
			password, _ := user.Password()
			r.SetBasicAuth(user.Username(), password)
		}
		by := client
		if guard := guardOf(ctx); guard != nil &&
			(ctx.Value(unnamedKey{}) != nil || !strings.EqualFold(to.Host, asked.Host)) {
			if by, err = guardedClient(r, guard); err != nil {
				return nil, err
			}
		}
		a, err := by.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		location := a.Header.Get("Location")
		switch a.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
			http.StatusPermanentRedirect:
		default:
			return a, nil
		}
		a.Body.Close()
		switch next, err := to.Parse(location); {
		case location == "" || err != nil || next.Host == "":
			return nil, permanent{errors.New("a redirect leads to no URL")}
		case n == mostRedirects:
			return nil, permanent{fmt.Errorf("more than %d redirects", mostRedirects)}
		case next.Scheme != "https":
			return nil, permanent{fmt.Errorf("a redirect leads to %q, which is not https", next.Scheme)}
		default:
			to = next
		}
	}
}

// guardedClient returns the client for a request that a redirect leads to. A proxy of
// the environment looks names up itself, so only addresses are refused before it.
func guardedClient(r *http.Request, isSpecial func(netip.Addr) bool) (*http.Transport, error) {
	proxy, err := client.Proxy(r)
	if proxy == nil || err != nil {
		return guarded, err
	}
	if addr, err := netip.ParseAddr(r.URL.Hostname()); err == nil && isSpecial(addr) {
		return nil, special(addr)
	}
	return client, nil
}
