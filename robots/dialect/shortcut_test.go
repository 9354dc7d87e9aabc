package dialect

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/robocensus/robocensus/robots/internal/rewrite"
)

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// text returns some pieces, one behind the other.
func text(r *rand.Rand, most int, pieces ...string) (b []byte) {
	for range r.IntN(most) {
		b = append(b, pick(r, pieces...)...)
	}
	return b
}

// A plain pattern has the form that the slow way finds.
func TestPlainPatterns(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 1))
	kept := 0
	for range 40_000 {
		m := Matching{
			Length: pick(r, "", LengthMatchEnd, LengthExpression), MaxPattern: r.IntN(3) * 8, EmptyAllows: r.IntN(2) == 0,
			Index: pick(r, "", IndexAllow, IndexAllowOnly, IndexBoth), Stars: pick(r, "", StarsFirstPlace, StarsUnanchored),
			Dollar:    pick(r, "", DollarLetterToo, DollarAnywhere, DollarCuts, DollarVoids),
			StripStar: r.IntN(2) == 0, LeadingStar: r.IntN(4) == 0, AbsolutePath: r.IntN(4) == 0, FoldCase: r.IntN(2) == 0,
			Compared: pick(r, "", rewrite.ComparedPath, rewrite.ComparedDots, rewrite.ComparedWHATWG),
			Requote: pick(r, "", rewrite.RequotePath, rewrite.RequoteThrough, rewrite.RequoteQuery, rewrite.RequoteUnreserved,
				rewrite.RequoteUnfit, rewrite.RequoteValid, rewrite.RequotePlain, rewrite.RequoteHarmless, rewrite.RequoteWhole),
			EmptyQueryLost: r.IntN(2) == 0, PatternIsURL: r.IntN(2) == 0,
		}
		wildcards := r.IntN(2) == 0
		m.Anywhere = !wildcards && r.IntN(2) == 0
		pattern := text(r, 7, "/", "a", "Z", "9", "-_", "..", "/index.html", "index.htm", "b", "/", "%2F", "*", "?", "~", "$", "é")
		if !m.keeps(pattern) {
			continue
		}
		kept++
		p := patterns{&m, RewriterOf(&m), wildcards, r.IntN(2) == 0}
		if got, want := p.formsOf(nil, pattern, r.IntN(2) == 0), []Form{{Text: pattern, Length: len(pattern)}}; !reflect.DeepEqual(got, want) {
			t.Fatalf("%q has the forms %+v under %+v", pattern, got, m)
		}
	}
	if kept < 1000 {
		t.Errorf("%d patterns are plain", kept)
	}
}

// A usual line is what the slow way takes it for, and lines end where the slow way ends them.
func TestUsualLines(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 2))
	usual, parted := 0, 0
	for range 40_000 {
		l := Lines{
			LineEnds: pick(r, "", EndsLF, EndsUnicode, EndsPython, EndsLFNUL), MaxLine: r.IntN(2) * 20,
			BOM: pick(r, "", BOMKept, BOMOfLines), Comments: pick(r, "", CommentsAfterSpace), NULEnds: r.IntN(2) == 0,
			StripTags: pick(r, "", TagsAlways), Colon: pick(r, "", ColonTight, ColonExact, ColonOrSpace, ColonOrSpaceLower, ColonOrWords),
			WhiteSpace:  pick(r, "", SpaceASCII, SpaceControl, SpacePython, SpaceECMA),
			AgentFields: pick(r, nil, []string{"disallow"}, []string{"useragent"}), DisallowFields: pick(r, nil, []string{"allow"}),
		}
		body := text(r, 12, "Disallow:", "allow:", "USER-agent:", "Disallow", " ", "\t", ":", "/a", "#", "<b>", "\x00", "\v", "\x1c", "\u0085",
			"\u2028", "\r", "\n", "\r\n", "\n", "\xef\xbb\xbf", "x")
		var got, want []Record
		fast := reader{Lines: &l, allow: r.IntN(2) == 0, lf: -1}
		fast.prepare()
		slow := reader{Lines: &l, allow: fast.allow, lf: len(body), take: func(r Record) { want = append(want, r) }}
		fast.take = func(r Record) { got = append(got, r) }
		for start := 0; start >= 0; {
			end, next := fast.lineEnd(body, start)
			if at, after := slow.lineEnd(body, start); at != end || after != next {
				t.Fatalf("a line of %q from %d on ends at %d before %d, not %d before %d: %+v", body, start, end, next, at, after, l)
			}
			got, want = nil, nil
			tags := l.StripTags != ""
			if line := body[start:end]; fast.takeUsual(line, 1, tags) {
				usual++
				if slow.record(line, 1, tags); fmt.Sprintf("%v", got) != fmt.Sprintf("%v", want) {
					t.Fatalf("%q is %+v, not %+v: %+v", line, got, want, l)
				}
			}
			if start = next; next > 0 && body[next-1] != '\n' {
				parted++
			}
		}
	}
	if usual < 5000 || parted < 10_000 {
		t.Errorf("%d lines are usual, %d do not end with LF", usual, parted)
	}
}
