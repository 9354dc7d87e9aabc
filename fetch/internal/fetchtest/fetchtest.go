// Package fetchtest has what tests of fetching share: captures of any content, for
// packages that store them (fetchtest.go, headers.go), and a name server (nameserver.go).
package fetchtest

import (
	"errors"
	"net/netip"
	"time"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
)

var classes = []answer.ErrorClass{
	"", answer.ErrorDNSNotFound, answer.ErrorDNSNoAddress, answer.ErrorDNSFailure,
	answer.ErrorConnectRefused, answer.ErrorConnectTimeout, answer.ErrorConnectFailure, answer.ErrorTLS,
	answer.ErrorTimeout, answer.ErrorReset, answer.ErrorProtocol, answer.ErrorUndecodableBody,
	answer.ErrorFTPRefused, answer.ErrorTruncatedBody, answer.ErrorHeaderTooLarge, answer.ErrorRedirectInvalid,
	answer.ErrorRedirectUnsupported, answer.ErrorRedirectLoop, answer.ErrorRedirectLimit,
}

// Captures draws any capture of o, with arbitrary bytes in everything that
// comes from the network.
func Captures(o fetch.Origin) *rapid.Generator[*fetch.Capture] {
	anything := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
	header := rapid.Ptr(anything, true)
	duration := rapid.Ptr(rapid.Custom(
		func(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "ns")) }), true)
	return rapid.Custom(func(t *rapid.T) *fetch.Capture {
		c := &fetch.Capture{
			Origin:   o,
			Start:    time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns")),
			Attempts: rapid.IntRange(1, 100).Draw(t, "attempts"),
			Error:    rapid.SampledFrom(classes).Draw(t, "error"), Fallback: rapid.SampledFrom(classes).Draw(t, "fallback"),
			HTTPVersion: anything.Draw(t, "http"), TLSVersion: anything.Draw(t, "tls"),
			Times: fetch.Times{
				DNS: duration.Draw(t, "dns"), Connect: duration.Draw(t, "connect"), TLS: duration.Draw(t, "tls"),
				FirstByte: duration.Draw(t, "first"), Total: duration.Draw(t, "total"),
			},
			Truncated: rapid.Bool().Draw(t, "truncated"),
		}
		EachHeader(&c.Headers, func(name string) *string { return header.Draw(t, name) })
		for range rapid.IntRange(0, 6).Draw(t, "hops") {
			c.Hops = append(c.Hops, answer.Hop{URL: anything.Draw(t, "url"), Status: rapid.IntRange(0, 999).Draw(t, "status")})
		}
		if c.Error != "" {
			c.Err = errors.New(anything.Draw(t, "err"))
		}
		if address := rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "address"); len(address) == 4 || len(address) == 16 {
			ip, _ := netip.AddrFromSlice(address)
			c.Remote = netip.AddrPortFrom(ip, rapid.Uint16().Draw(t, "port"))
		}
		if rapid.Bool().Draw(t, "has body") {
			c.Body = []byte(anything.Draw(t, "body"))
		}
		return c
	})
}
