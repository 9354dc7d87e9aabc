package fetch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/internal/fetchtest"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/consent"
	"github.com/robocensus/robocensus/robots/usage"
)

// Decoding restores the capture; half an encoding is an error.
func TestACaptureIsEncodedWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := fetchtest.Captures(fetch.Origin{Scheme: "https", Host: "a.test", Port: 443}).Draw(t, "capture")
		body := rapid.Custom(func(t *rapid.T) []byte {
			return append([]byte{}, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
		})
		if want.Body = nil; rapid.Bool().Draw(t, "has a body") {
			want.Body = body.Draw(t, "body")
		}
		want.Probe = fetch.Probe{Front: rapid.IntRange(0, 599).Draw(t, "front"), Missing: rapid.IntRange(0, 599).Draw(t,
			"missing")}
		want.Remembered = rapid.Bool().Draw(t, "remembered")
		if rapid.Bool().Draw(t, "has a memory") {
			m := answer.Memory{}.After(answer.Facts{Error: answer.ErrorTimeout}.Kind(), want.Start.UTC())
			want.Memory = &m
			want.Copy = &fetch.WholeCopy{Fetched: want.Start.UTC().Add(-time.Hour), Body: body.Draw(t, "copy"),
				Truncated: rapid.Bool().Draw(t, "cut")}
		}
		for range rapid.IntRange(0, 3).Draw(t, "identities") {
			other := fetchtest.Captures(want.Origin).Draw(t, "answer to an identity")
			if rapid.Bool().Draw(t, "as ours") && want.Body != nil {
				other.Body = want.Body
			}
			also := fetch.Also{Identity: fetch.Identity{Name: "a", UserAgent: "x/1", Agent: "GPTBot", Headers: []fetch.Header{
				{Name: "A", Value: "b"}}}, Capture: other}
			if rapid.Bool().Draw(t, "priced") {
				also.Price = &consent.Price{Header: "crawler-price", Text: string(rapid.SliceOf(rapid.Byte()).Draw(t, "price"))}
			}
			want.Also = append(want.Also, also)
		}
		if rapid.Bool().Draw(t, "has a front page") {
			anything := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
			want.Front = &fetch.Front{Outcome: rapid.SampledFrom(usage.PageOutcomes).Draw(t, "outcome"),
				Error: rapid.SampledFrom([]answer.ErrorClass{"", answer.ErrorReset}).Draw(t, "failure")}
			for range rapid.IntRange(0, 2).Draw(t, "page hops") {
				want.Front.Hops = append(want.Front.Hops, answer.Hop{URL: anything.Draw(t, "url"), Status: rapid.IntRange(0,
					999).Draw(t, "status")})
			}
			for range rapid.IntRange(0, 2).Draw(t, "headers") {
				want.Front.Header = append(want.Front.Header, usage.HeaderField{Name: "x-robots-tag", Value: rapid.Ptr(anything,
					true).Draw(t, "value")})
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "further") {
			anything := rapid.Custom(func(t *rapid.T) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) })
			f := &fetch.Further{
				Kind: rapid.SampledFrom(fetch.Kinds).Draw(t, "kind"), Name: anything.Draw(t, "name"),
				Identity: rapid.SampledFrom([]*fetch.Identity{nil, {Name: "a", UserAgent: "x/1", IsControl: true}}).Draw(t, "as"),
				URL:      anything.Draw(t, "url"), Start: want.Start.UTC(),
				Outcome: rapid.SampledFrom(usage.PageOutcomes).Draw(t, "outcome"), Error: answer.ErrorReset,
				Challenge: "cloudflare", Truncated: rapid.Bool().Draw(t, "cut"),
				Hops: []answer.Hop{{URL: anything.Draw(t, "url"), Status: 200}}, Header: []usage.HeaderField{
					{Name: "link", Value: rapid.Ptr(anything, true).Draw(t, "value")}},
			}
			var again fetch.Further
			if text, err := f.MarshalJSON(); err != nil || again.UnmarshalJSON(text) != nil || cmp.Diff(f, &again) != "" {
				t.Errorf("%v\n%s", err, cmp.Diff(f, &again))
			}
			if rapid.Bool().Draw(t, "has a body") {
				f.Body = body.Draw(t, "body")
			}
			if rapid.Bool().Draw(t, "has a reading") {
				f.Reading = body.Draw(t, "reading")
			}
			want.Further = append(want.Further, f)
		}
		want.Challenge = rapid.SampledFrom([]string{"", "cloudflare"}).Draw(t, "wall")
		data, err := want.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var facts struct{ Also, Further []map[string]any }
		var own map[string]any
		if text, _, err := want.Disassemble(); err != nil || json.Unmarshal(text, &facts) != nil ||
			json.Unmarshal(text, &own) != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, part := range append(append(facts.Also, facts.Further...), own) {
			for key := range part {
				if key != strings.ToLower(key) {
					t.Errorf("%s is in the facts: it has no name there, or is a body", key)
				}
			}
		}
		var got fetch.Capture
		if err := got.UnmarshalBinary(data); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, &got, cmpopts.IgnoreUnexported(fetch.Capture{}), cmpopts.EquateComparable(netip.AddrPort{}),
			cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) })); diff != "" {
			t.Errorf("encoded - decoded +:\n%s", diff)
		}
		for _, other := range [][]byte{data[:rapid.IntRange(0, len(data)-1).Draw(t, "at")],
			append(data[:len(data):len(data)], 0), append([]byte{9}, data[1:]...)} {
			if new(fetch.Capture).UnmarshalBinary(other) == nil {
				t.Errorf("%d of %d bytes decode to a capture", len(other), len(data))
			}
		}
	})
}

// Of an exchange all is encoded but its bytes.
func TestAnExchangeIsEncoded(t *testing.T) {
	want := fetch.Exchange{
		URL: "http://a.test/\xff", Kind: fetch.KindPage, Further: 3, MaxBody: 10, Identity: "gptbot",
		Start: time.Unix(1, 234567891).UTC(), Remote: netip.MustParseAddrPort("[::1]:80"), TLSVersion: "1.3",
		Status: 200, Error: answer.ErrorReset, Err: errors.New("\xfe"), Header: 7, Cut: "length",
	}
	for value, i := reflect.ValueOf(want), 0; i < value.NumField(); i++ {
		if field := value.Type().Field(i); value.Field(i).IsZero() != (field.Name == "Sent" || field.Name == "Received") {
			t.Errorf("%s is not drawn", field.Name)
		}
	}
	var got fetch.Exchange
	with := want
	with.Sent, with.Received = []byte("a"), []byte("b")
	if text, err := with.MarshalJSON(); err != nil || got.UnmarshalJSON(text) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.AddrPort{}), cmp.Comparer(func(a, b error) bool {
		return fmt.Sprint(a) == fmt.Sprint(b)
	})); diff != "" {
		t.Error(diff)
	}
}
