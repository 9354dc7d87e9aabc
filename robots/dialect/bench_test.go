package dialect_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/dialect"
)

// file returns a file of 200 groups as people write them.
func file() []byte {
	var b bytes.Buffer
	for i := range 200 {
		fmt.Fprintf(&b, "# group %d\r\nUser-agent: Bot%d/1.%d (all)\nUser-agent: Robot-%d\nCrawl-delay: 5\n"+
			"Disallow: /a%%7Eb/%d*c$ # why\nDisallow: /é/%d/index.html\nAllow : /d?q=%d\nSitemap: http://h/%d.xml\n\n", i, i, i,
			i, i, i, i, i)
	}
	return b.Bytes()
}

// A dialect reads the records of a file, takes what its agents are named for, and brings
// its patterns into the form that it compares.
func BenchmarkDialect(b *testing.B) {
	body := file()
	for _, name := range robots.ProfileNames() {
		p, _ := robots.ProfileNamed(name)
		if p.AgentValue == "" {
			continue // not a dialect
		}
		var agents []dialect.Agent
		var rules []dialect.Record
		group, open := int32(-1), false
		var tape dialect.Tape
		tape.Read(body)
		dialect.Records(&p.Lines.Lines, &tape, false, p.AllowField, func(r dialect.Record) {
			switch r.Field {
			case dialect.AgentField:
				if !open {
					group++
				}
				agents, open = append(agents, dialect.Agent{Line: r.Line, Group: group, Value: r.Value}), true
			case dialect.AllowField, dialect.DisallowField:
				rules, open = append(rules, r), false
			}
		})
		b.Run(name+"/records", func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				tape.Read(body)
				dialect.Records(&p.Lines.Lines, &tape, false, p.AllowField, func(dialect.Record) {})
			}
		})
		b.Run(name+"/names", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				dialect.NamesOf(&p.Groups.Groups, agents).GroupsFor("robot-199")
			}
		})
		b.Run(name+"/forms", func(b *testing.B) {
			patterns := dialect.PatternsOf(&p.Matching.Matching, p.Wildcards, p.AddSlash)
			b.ReportAllocs()
			for b.Loop() {
				for _, r := range rules {
					patterns.Forms(nil, r.Value, r.Field == dialect.AllowField)
				}
			}
		})
	}
}
