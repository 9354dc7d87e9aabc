package evaluate

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
)

// Preparing 20,000 URLs under five profiles all at once would take a gigabyte.
func TestManyOwnURLsTakeLittleMemory(t *testing.T) {
	profiles := profilesNamed(robots.ProfileNames()...)
	agents, _, err := registry.ParseAgents("agents", []byte("- {name: GPTBot}\n- {name: Googlebot}\n"))
	must(t, err)
	var paths []string
	for i := range 20_000 {
		paths = append(paths, fmt.Sprintf("/%0200d", i))
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	a := Prepare(Config{Agents: agents, Profiles: profiles}).Evaluator()
	before := heap()
	own := newOwn("http://h.example", paths, nil)
	for k := range profiles {
		a.readings[k].answer = answer.Answer{Outcome: answer.ConditionalAllow}
		a.read(k, []byte("User-agent: *\nDisallow: /*1\n"), questions{judging: true})
		a.memo.forget()
		for i := range agents {
			if got := a.judge(k, i, nil, own); len(got) != len(paths) {
				t.Fatalf("%d verdicts", len(got))
			}
		}
	}
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("%d URLs take %d bytes of memory", len(paths), grown)
	}
	runtime.KeepAlive(own)
}

// A URL that is a sample of the run and one of the target's own is judged once.
func TestAnOwnURLThatIsListedIsJudgedOnce(t *testing.T) {
	listed := []*prepared{{Sample: registry.Sample{URL: "http://h.example/a"}}}
	paths := []string{"/b", "/a", "/a/b"}
	own := newOwn("http://h.example", paths, listed)
	if want := []string{"/b", "/a/b"}; !slices.Equal(own.paths, want) || paths[1] != "/a" {
		t.Errorf("%q are judged of %q, want %q", own.paths, paths, want)
	}
	if own := newOwn("http://other.example", paths, listed); !slices.Equal(own.paths, paths) {
		t.Errorf("of another origin, %q are judged", own.paths)
	}
}
