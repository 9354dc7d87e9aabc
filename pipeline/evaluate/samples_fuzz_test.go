package evaluate

import (
	"reflect"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// FuzzSamples checks that an accepted list of URLs gives the same samples after it
// is written again, and that each sample can be prepared under each profile.
func FuzzSamples(f *testing.F) {
	f.Add([]byte("/\n# comment\n\n/x?y#z\nhttps://a.test/\xff\n/é%zz\n"))
	f.Add([]byte("a.test\n"))
	f.Add([]byte("ftp://[::1]:2121/x y\r\nhttp://user@a.test/\n"))
	var profiles []*robots.Profile
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		profiles = append(profiles, p)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		samples, err := registry.ParseSamples("file", text)
		if err != nil {
			sinktest.CheckUserError(t, err, text)
			return
		}
		var list strings.Builder
		paths := 0
		for _, s := range samples {
			list.WriteString(s.URL + "\n")
			if s.Origin == nil {
				paths++
			}
			if (s.Origin == nil) != strings.HasPrefix(s.URL, "/") || s.Line < 1 {
				t.Fatalf("sample %+v", s)
			}
		}
		again, err := registry.ParseSamples("file", []byte(list.String()))
		if err != nil || len(again) != len(samples) {
			t.Fatalf("%d samples, listed again %d, %v", len(samples), len(again), err)
		}
		for i := range again {
			if again[i].URL != samples[i].URL || !reflect.DeepEqual(again[i].Origin, samples[i].Origin) {
				t.Fatalf("%+v, listed again %+v", samples[i], again[i])
			}
		}
		s := Prepare(Config{Samples: samples, Profiles: profiles})
		unused, err := s.Unused(nil)
		if listed := len(s.samples.list); err != nil || len(s.samples.paths) != paths || listed+paths != len(samples) ||
			len(unused) != listed {
			t.Fatalf("of %d samples %d are paths and %d are URLs", len(samples), len(s.samples.paths), listed)
		}
	})
}
