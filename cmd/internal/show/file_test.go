package show

import (
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/lookup"
)

// A body that is not what the host answered is not called the file.
func TestTitleOfFile(t *testing.T) {
	digest, wall, at := "2DMPDNGO", "cloudflare", time.Date(2026, 11, 30, 16, 15, 30, 0, time.UTC)
	view := func(set func(*hostView)) string {
		v := &hostView{target: new(lookup.Target)}
		set(v)
		return v.titleOfFile()
	}
	unjudged := view(func(v *hostView) { v.target.CopyDigest, v.Challenge = &digest, &wall })
	if unjudged != "the page of the wall" {
		t.Errorf("a wall that no profile takes for a file: %s", unjudged)
	}
	for want, set := range map[string]func(*hostView){
		"the file": func(v *hostView) { v.target.ContentDigest, v.target.CopyTime = &digest, &at },
		"the page of the wall": func(v *hostView) {
			v.target.ContentDigest, v.Challenge = &digest, &wall
		},
		"the last copy, of 2026-11-30 16:15, which was not judged": func(v *hostView) {
			v.target.CopyDigest, v.target.CopyTime, v.Challenge = &digest, &at, &wall
		},
		"the last copy, of 2026-11-30 16:15, which was judged": func(v *hostView) {
			v.target.ContentDigest, v.target.CopyTime, v.target.StaleSince = &digest, &at, &at
		},
		"the page of the error, which was not judged": func(v *hostView) { v.target.CopyDigest = &digest },
	} {
		if got := view(set); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
