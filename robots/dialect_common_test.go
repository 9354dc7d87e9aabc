package robots

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// A head of thousands of names costs no square of them, under any dialect.
func TestManyNamesInOneHead(t *testing.T) {
	var names strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&names, "user-agent: a%d\n", i)
	}
	body := names.String() + "disallow: /\n" + names.String() + "disallow: /b\n"
	agents := []Agent{{Name: "equal", Tokens: []string{"a17"}}, {Name: "part", Tokens: []string{"zza18zz"}}}
	for _, f := range dialects {
		p := f()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var file File
		file.Parse([]byte(body), &p)
		j := NewJudge(&p, agents)
		j.Load(&file)
		runtime.ReadMemStats(&after)
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 200*uint64(len(body)) {
			t.Errorf("%s takes %d bytes for a file of %d", p.Name, bytes, len(body))
		}
		if p.Name == "urllib-2026" && (j.Policy(0).Class() != DisallowAll || j.Policy(1).Class() != DisallowAll) {
			t.Errorf("%s: %v and %v", p.Name, j.Policy(0).Class(), j.Policy(1).Class())
		}
	}
}

// An agent whose token has only a part that equals a name follows the first name whose
// groups all have such a part, as urllib does since 2026.
func TestCommonNames(t *testing.T) {
	p, _ := ProfileNamed("urllib-2026")
	for body, want := range map[string]Class{
		// by x's group, which has spi too
		"user-agent: x\nuser-agent: spi\ndisallow: /\n":                                              DisallowAll,
		"user-agent: x\nuser-agent: spi\ndisallow: /\n\nuser-agent: x\nallow: /\n":                   DisallowAll, // by spi
		"user-agent: x\nuser-agent: spi\ndisallow: /\n\nuser-agent: x\nuser-agent: spi\nallow: /a\n": Partial,
		// spelt otherwise
		"user-agent: x\nuser-agent: spi\ndisallow: /\n\nuser-agent: x\nuser-agent: SPI\ndisallow: /a": AllowAll,
		"user-agent: x\ndisallow: /\n\nuser-agent: *\ndisallow: /b\n":                                 Partial,
	} {
		var f File
		f.Parse([]byte(body), p)
		j := NewJudge(p, []Agent{{Name: "Spider", Tokens: []string{"Spider"}}})
		j.Load(&f)
		if got := j.Policy(0).Class(); got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
}
