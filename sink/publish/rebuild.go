package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/sink/internal/layout"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/rowio"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// Difference is a file of a data set that is not what [Write] writes.
type Difference struct {
	Name string
	Text string // how it differs; may quote the file
}

// TakenAsItIs says what [Set.Rebuild] cannot make again, and does not look at.
const TakenAsItIs = "what hosts answered and list, the words of its makers, how a run was configured and on which " +
	"inputs, its times, lines that were rejected or skipped, tables that were left out, the program that published it"

// Rebuild makes again what [Write] makes of the tables and manifests of a data set and
// the words in its provenance. It returns the files that differ or are missing, and those
// that Write does not write. It takes from the provenance what is known nowhere else.
func (d *Set) Rebuild(ctx context.Context) ([]Difference, error) {
	p := &publisher{
		Config: Config{In: d.in, Runs: d.runs, Metadata: d.Metadata, HashHosts: d.HostsHashed, ToolVersion: d.ToolVersion},
		ctx:    ctx, dataSet: dataSet{Out: d.in, Published: d.runs},
	}
	var err error
	if p.Selection, err = choose(d.runs, nil, d.HostsHashed); err == nil {
		err = p.Metadata.complete(d.runs, p.Selection)
	}
	if err != nil {
		return nil, unreadable(provenanceName, err)
	}
	p.Provenance = provenanceOf(p.Metadata, d.ToolVersion, p.Selection)
	p.Provenance.Build = d.Build
	b := &rebuilding{p: p, set: d, written: make(map[string]bool)}
	for _, step := range []func() error{b.manifests, b.comparisons, b.descriptions} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for _, f := range d.files {
		if !b.written[f.Name] {
			b.differs(f.Name, "robocensus publish writes no such file")
		}
	}
	slices.SortStableFunc(b.found, func(a, b Difference) int { return strings.Compare(a.Name, b.Name) })
	return b.found, nil
}

// rebuilding compares a data set with what a publisher would write.
type rebuilding struct {
	p       *publisher
	set     *Set
	written map[string]bool // the files that it would write
	found   []Difference
}

func (b *rebuilding) differs(name, format string, args ...any) {
	b.found = append(b.found, Difference{name, fmt.Sprintf(format, args...)})
}

// file returns a file of the data set.
func (b *rebuilding) file(name string) (dataFile, bool) {
	at, ok := slices.BinarySearchFunc(b.set.files, name,
		func(f dataFile, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return dataFile{}, false
	}
	return b.set.files[at], true
}

// compare compares a file with what it is to be.
func (b *rebuilding) compare(name string, want []byte) error {
	b.written[name] = true
	f, ok := b.file(name)
	if !ok {
		b.differs(name, "is missing")
		return nil
	}
	if f.SHA256 == digestOf(want) {
		return nil
	}
	got, err := readDescription(b.set.in, name)
	if err != nil {
		return err
	}
	b.differs(name, "%s", firstDifference(got, want))
	return nil
}

// manifests compares what the provenance and the manifests say of the runs with each
// other, and with the tables.
func (b *rebuilding) manifests() error {
	for i, m := range b.set.runs {
		said := b.set.provenance.Runs[i]
		about := b.p.Provenance.add(b.p.Selection, m, func(name string, in journal.Input) []byte {
			f, ok := b.file(name)
			if !ok {
				return nil
			}
			b.written[name] = true
			if f.SHA256 != in.SHA256 {
				b.differs(name, "its SHA-256 is %.12s…, and the run read %s with %.12s…", f.SHA256, in.Role, in.SHA256)
			}
			text, err := readDescription(b.set.in, name)
			if err != nil {
				b.differs(name, "%v", err)
			}
			return text
		})
		about.ManifestSHA256 = said.ManifestSHA256
		if !slices.ContainsFunc(said.TablesLeftOut, func(table string) bool {
			return !slices.Contains(schema.TableNames, table) || slices.Contains(m.Tables, table)
		}) {
			about.TablesLeftOut = said.TablesLeftOut
		}
		text, err := journal.ManifestFile(b.p.Out, about.manifest(m, b.p.Selection))
		if err != nil {
			return err
		}
		if err := b.compare(layout.RunFile(m.Run, layout.ManifestName), text); err != nil {
			return err
		}
		if err := b.targets(m); err != nil {
			return err
		}
		for _, part := range slices.Concat(m.RunParts, m.Parts) {
			b.written[part.Path] = true
		}
	}
	return nil
}

// targets compares the number of targets that a manifest says with the table that has a
// row for each, or counts them.
func (b *rebuilding) targets(m *journal.Manifest) error {
	var has int64
	table := countingTable(m, "")
	switch table {
	case "fetches":
		for _, part := range m.PartsOf(table) {
			has += part.Rows
		}
	case "summary":
		counts, err := summary.Read(b.p.ctx, b.set.in, m)
		if err != nil {
			return unreadable(layout.RunFile(m.Run, layout.ManifestName), err)
		}
		for _, c := range counts.List() {
			if c.Metric == "targets" {
				has += c.N
			}
		}
	}
	if table != "" && has != m.Targets {
		b.differs(layout.RunFile(m.Run, layout.ManifestName), "says %d targets, and the table %s has %d", m.Targets, table,
			has)
	}
	return nil
}

// comparisons compares the records of comparisons with the manifests of their runs.
func (b *rebuilding) comparisons() error {
	compared, err := b.p.compared()
	if err != nil {
		return err
	}
	for _, c := range compared {
		text, err := journal.ComparisonFile(b.p.Out, c)
		if err != nil {
			return err
		}
		if err := b.compare(layout.ComparisonRecord(c.Run, c.Against), text); err != nil {
			return err
		}
		b.written[c.Part.Path] = true
		b.p.Changes = append(b.p.Changes, *c.Part)
	}
	return nil
}

// descriptions compares the files that follow from the tables and from those before.
func (b *rebuilding) descriptions() error {
	documents, err := b.p.documents(b.p.ctx)
	if part, ok := errors.AsType[*rowio.PartError](err); ok {
		return unreadable(part.Path, err)
	}
	if err != nil {
		return err
	}
	for _, d := range documents {
		if err := b.compare(d.Name, d.Text); err != nil {
			return err
		}
	}
	for _, f := range b.set.files {
		if b.written[f.Name] {
			b.p.Files = append(b.p.Files, f)
		}
	}
	for _, d := range b.p.catalogues() {
		if err := b.compare(d.Name, d.Text); err != nil {
			return err
		}
	}
	if want := checksums(slices.Clone(b.set.files)); !bytes.Equal(b.set.sums, want) {
		b.differs(checksumsName, "%s", firstDifference(b.set.sums, want))
	}
	return nil
}

// firstDifference shows the first line in which a text is another.
func firstDifference(got, want []byte) string {
	const most = 80 // bytes of a line
	line := func(text []byte) (first, rest []byte, ok bool) {
		if len(text) == 0 {
			return nil, nil, false
		}
		first, rest, _ = bytes.Cut(text, []byte("\n"))
		return first, rest, true
	}
	shown := func(text []byte, ok bool, at int) string {
		if !ok {
			return "the end"
		}
		at = max(0, min(at, len(text))-most/2)
		text = text[at:]
		return fmt.Sprintf("%q", text[:min(len(text), most)])
	}
	for n := 1; ; n++ {
		a, restOfA, moreA := line(got)
		b, restOfB, moreB := line(want)
		if !moreA && !moreB {
			return "the last line does not end as it should"
		}
		if !bytes.Equal(a, b) || moreA != moreB {
			at := 0
			for at < min(len(a), len(b)) && a[at] == b[at] {
				at++
			}
			return fmt.Sprintf("line %d is %s, and not %s", n, shown(a, moreA, at), shown(b, moreB, at))
		}
		got, want = restOfA, restOfB
	}
}
