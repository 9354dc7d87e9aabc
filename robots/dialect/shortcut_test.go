package dialect

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
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
		pattern := text(r, 7, "/", "a", "Z", "9", "-_", "..", "/index.html", "index.htm", "b", "/", "%2F", "*", "?", "~",
			"$", "é")
		if !m.keeps(pattern) {
			continue
		}
		kept++
		p := PatternsOf(&m, wildcards, r.IntN(2) == 0)
		if got, want := p.formsOf(nil, pattern, r.IntN(2) == 0),
			[]Form{{Text: pattern, Length: len(pattern)}}; !reflect.DeepEqual(got, want) {
			t.Fatalf("%q has the forms %+v under %+v", pattern, got, m)
		}
	}
	if kept < 1000 {
		t.Errorf("%d patterns are plain", kept)
	}
}

// A tape gives each dialect the records that it reads line by line, whatever the body has.
func TestTape(t *testing.T) {
	r := rand.New(rand.NewPCG(53, 2))
	pieces := []string{"Disallow:", "allow:", "USER-agent:", "disallow:", "User-agent: *", "Disallow", "crawl-delay: 1",
		" ", "\t", ":", "/a", "/b c",
		"é", "#", "<b>", "<html>", "\r\n", "\r\n", "\n", "\n", "\n", "\n", "x"}
	hostile := []string{"\x00", "\v", "\f", "\x1c", "\x1d", "\x1e", "\u0085", "\u00a0", "\u2028", "\r", "\xef\xbb\xbf",
		"\xef\xbb", "\xff\xfe", "\xff", "\xe2\x80", "\ufeff",
		strings.Repeat("y", 30)}
	var tape Tape
	taped, odd := 0, 0
	for n := range 30_000 {
		l := Lines{
			LineEnds: pick(r, "", EndsLF, EndsUnicode, EndsPython, EndsLFNUL), MaxLine: r.IntN(2) * 25,
			BOM: pick(r, "", BOMKept, BOMOfLines, BOMDecoded), Comments: pick(r, "", CommentsAfterSpace),
			NULEnds:      r.IntN(2) == 0,
			InvalidBytes: pick(r, "", InvalidDropped, InvalidReplaced, InvalidRefused), OneWord: r.IntN(4) == 0,
			StripTags: pick(r, "", TagsAlways, TagsOfHTML), Colon: pick(r, "", ColonTight, ColonExact, ColonOrSpace,
				ColonOrSpaceLower, ColonOrWords),
			WhiteSpace:  pick(r, "", SpaceASCII, SpaceControl, SpacePython, SpaceECMA),
			AgentFields: pick(r, nil, []string{"disallow"}, []string{"useragent"}), DisallowFields: pick(r, nil,
				[]string{"allow"}),
		}
		body := text(r, 14, append(pieces, hostile[:r.IntN(2)*len(hostile)]...)...)
		if n%10_000 == 0 {
			body = append(body, strings.Repeat("a\n", mostTaped+r.IntN(3)-1-bytes.Count(body, []byte("\n")))...)
		}
		cut, allow := r.IntN(3) == 0, r.IntN(2) == 0
		var got, want []Record
		slow := reader{Lines: &l, allow: allow, take: func(r Record) { want = append(want, r) }}
		slow.read(body, cut)
		tape.Read(body)
		Records(&l, &tape, cut, allow, func(r Record) { got = append(got, r) })
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%q has the records %v, not %v: %+v", body, got, want, l)
		}
		if lines := tape.Lines(); lines > 0 {
			taped += len(got)
		} else {
			odd += len(got)
		}
	}
	if taped < 20_000 || odd < 10_000 {
		t.Errorf("%d records are of tapes, %d are not", taped, odd)
	}
}
