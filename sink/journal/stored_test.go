package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A kind of stored answers that is missing in one place would be read as another.
func TestStoredSources(t *testing.T) {
	all := SourceFlags(nil)
	if diff := cmp.Diff([]string{"warc", "warc-paths", "cdx", "bodies", "from-run"}, all); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"warc", "warc-paths", "cdx"}, SourceFlags(func(s StoredSource) bool {
		return s.HasCaptures
	})); diff != "" {
		t.Errorf("of captures: %s", diff)
	}
	for _, name := range all {
		if _, ok := SettingNamed(name); !ok {
			t.Errorf("--%s is not a setting", name)
		}
	}
	for _, s := range StoredSources {
		in := Input{Role: s.Role}
		if got := StoredIn([]Input{{Role: "ranks"}, in}); got == nil || got.Role != s.Role ||
			in.HasCaptures() != s.HasCaptures {
			t.Errorf("an input of role %s is of %+v", s.Role, got)
		}
	}
	if StoredIn([]Input{{Role: "hosts"}}) != nil || (Input{Role: "hosts"}).HasCaptures() {
		t.Error("a list of hosts is taken for stored answers")
	}
}
