package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// ReadExpectations reads the file of --expect; nil if there is none.
func ReadExpectations(ctx context.Context, path string) (*expect.List, error) {
	if path == "" {
		return nil, nil
	}
	text, err := ReadInput(ctx, path)
	if err != nil {
		return nil, err
	}
	return expect.Parse(remote.Name(path), text, func(path string) ([]byte, error) { return ReadInput(ctx, path) })
}

// ExitOfPromises returns the exit code for promises: not 0 if one is broken or cannot be
// checked.
func ExitOfPromises(promises []*expect.Promise) error {
	for _, p := range promises {
		if p.Fails {
			return ExitBroken
		}
	}
	return nil
}

// ShowPromises prints which expectations hold, and for the broken ones by which
// hosts.
func ShowPromises(p Page, promises []*expect.Promise) {
	if len(promises) == 0 {
		return
	}
	states := map[expect.State]string{expect.Kept: "kept", expect.Broken: "BROKEN", expect.Unchecked: "unchecked"}
	var rows [][]string
	for _, x := range promises {
		rows = append(rows, []string{p.Foreign(x.Name), states[x.State], words.Number(x.Checked), words.Number(x.Broken)})
	}
	p.Table("Expectations", []string{"name", "state", "checked", "otherwise"}, 2, rows)
	for _, x := range promises {
		if x.Note != "" {
			p.Line(fmt.Sprintf("%s, %s: %s", p.Foreign(x.Name), states[x.State], p.Foreign(x.Note)))
		}
	}
	for _, x := range promises {
		if x.State != expect.Broken {
			continue
		}
		rows = nil
		for _, b := range x.First {
			var cells []string
			found := foundWords(b.Found)
			for _, s := range []*string{&b.Host, b.Agent, b.URL, &found} {
				cell := ""
				if s != nil {
					cell = p.Foreign(*s)
				}
				cells = append(cells, cell)
			}
			line := ""
			if b.Line != nil {
				line = fmt.Sprint(*b.Line)
			}
			rows = append(rows, append(cells, line))
		}
		p.Table("Broken: "+p.Foreign(x.Name), []string{"host", "agent", "url", "found", "line"}, 4, rows)
		if more := x.Broken - int64(len(x.First)); more > 0 {
			p.Line(fmt.Sprintf("and %s more, in expectations.csv", words.Number(more)))
		}
	}
}

// foundWords tells what was found in the words of the report: a class, a stance about a use, a
// verdict and its reason, or a change of a kind from one value to another.
func foundWords(found string) string {
	if text, ok := words.Class[found]; ok {
		return text
	}
	what, rest, ok := strings.Cut(found, ": ")
	if pages, all, _ := strings.Cut(rest, ","); ok && what == "coverage" {
		if text, known := words.Value(what, pages); known && all != "" {
			return what + ": " + text + "," + all
		} else if known {
			return what + ": " + text
		}
	}
	if use, isUse := words.Use[what]; ok && isUse {
		return use + ": " + words.Stance.Of(rest)
	}
	before, after, isChange := strings.Cut(rest, " → ")
	if kind, _, named := strings.Cut(what, " "); ok && isChange {
		of := ""
		if named {
			of = strings.TrimPrefix(what, kind)
		}
		told := func(value string) string {
			if text, known := words.Value(kind, value); known {
				return text
			}
			return value
		}
		return words.Kind(kind) + of + ": " + told(before) + " → " + told(after)
	}
	if verdict, reason, ok := strings.Cut(found, " by "); ok && (verdict == "allow" || verdict == "disallow") {
		return map[string]string{"allow": "allowed", "disallow": "disallowed"}[verdict] +
			" by " + words.Plain(strings.ReplaceAll(reason, "_", " "))
	}
	if text, ok := words.Reason[found]; ok {
		return text
	}
	return found
}
