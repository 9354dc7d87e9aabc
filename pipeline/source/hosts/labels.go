package hosts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
	"github.com/robocensus/robocensus/sink/summary"
)

// Bounds of labels: those of a run, and the bytes of a name and of a value.
const (
	mostLabels    = 16
	maxLabelName  = 64
	maxLabelValue = 200
)

// AllLabels stands for every column of a list that is not host, URL or rank.
const AllLabels = "*"

// labelColumns are the columns of a list that are labels.
type labelColumns struct {
	wanted []string // names, or AllLabels
	names  []string // of those that the list has, as its header writes them
	at     []int    // their places
	others []string // all columns that might be one
}

// find finds the columns in a header.
func (l *labelColumns) find(fields []string, c *columns) error {
	all := slices.Contains(l.wanted, AllLabels)
	for i, f := range fields {
		name := schema.TextString(strings.TrimSpace(f))
		if name == "" || slices.Contains([]int{c.host, c.hostRev, c.url, c.rank}, i) {
			continue
		}
		l.others = append(l.others, name)
		if !all && !slices.ContainsFunc(l.wanted, func(wanted string) bool { return SameColumn(wanted, name) }) {
			continue
		}
		switch {
		case slices.Contains(l.names, name):
			return fmt.Errorf("has two columns %q: a label needs a name of its own", name)
		case !utf8.ValidString(f):
			return fmt.Errorf("has a column %q, which cannot be a label: %s", name, notUTF8)
		case schema.IsOwnLabel(name):
			return fmt.Errorf("has a column %q, which is the name of a label of the program: rename the column", name)
		case len(name) > maxLabelName || strings.ContainsAny(name, "=*"):
			return fmt.Errorf("has a column %q, which cannot be a label: a name has at most %d bytes, and none of = and *",
				summary.Cut(name), maxLabelName)
		}
		l.names, l.at = append(l.names, name), append(l.at, i)
	}
	return nil
}

// notUTF8 says how to convert a list whose labels are not UTF-8.
const notUTF8 = "it is not UTF-8; convert the list, as by iconv -f WINDOWS-1252 -t UTF-8"

// SameColumn reports whether a user means a column by a name.
func SameColumn(wanted, name string) bool {
	return strings.EqualFold(wanted, name) || plainName(wanted) == plainName(name)
}

// of returns the values of a row.
func (l *labelColumns) of(field func(i int) string) []string {
	values := make([]string, len(l.at))
	for k, i := range l.at {
		values[k] = strings.TrimSpace(field(i))
	}
	return values
}

// Labels are what lists say of hosts beside their ranks.
type Labels struct{ lists []*labelList }

// labelList are the labels of one list.
type labelList struct {
	from     string // the name of the list
	names    []string
	domains  bool // a name stands for all hosts of a registered domain, too
	values   []values
	hosts    hashMap[uint32] // the place of a host's cells, divided by the number of names
	cells    []uint32        // index of the value plus 1, 0 for none
	conflict func(line int64, text, reason string) error
}

// values are the values of one label.
type values struct {
	texts []string
	rows  []int64 // hosts with it
	ids   map[string]uint32
	as    []string        // what each counts as
	apart map[string]bool // those that an earlier run counts apart, nil for those with the most hosts
}

// A LabelFile is a list to take labels from.
type LabelFile struct {
	Path, Column string
	Wanted       []string // names of columns, or [AllLabels]
	Domains      bool     // its names are registered domains, too
	Needed       bool     // it must have labels
}

// Len returns the number of labels.
func (l *Labels) Len() (n int) {
	for _, list := range l.lists {
		n += len(list.names)
	}
	return n
}

// Values returns the number of values that count apart, once they are settled.
func (l *Labels) Values() (n int) {
	for _, list := range l.lists {
		for i := range list.values {
			n += min(len(list.values[i].texts), summary.MostValues+1)
		}
	}
	return n
}

// Read adds the labels of a file. It rejects lines that give a host a second value of a
// label, and returns the columns that could be labels.
func (l *Labels) Read(ctx context.Context, f LabelFile, reject func(line int64, text, reason string) error) (
	columns []string, err error) {
	name := remote.Name(f.Path)
	if info, err := os.Stat(f.Path); f.Path == "-" || !remote.IsURL(f.Path) && err == nil && !info.Mode().IsRegular() {
		return nil, &userfile.Error{Path: name, Err: errors.New("is read twice for its labels: keep the list in a file")}
	}
	found := &labelColumns{wanted: f.Wanted}
	list := &labelList{from: name, domains: f.Domains, conflict: reject}
	err = readForm(ctx, f.Path, form{column: f.Column, labels: found}, io.Discard, func(r row) error {
		if list.names == nil && len(found.names) > 0 {
			list.begin(found.names)
		}
		why := r.refusal(true)
		if why != "" {
			if f.Needed {
				return reject(r.line, r.text, why)
			}
			return nil // the list of hosts says so
		}
		o, _, err := fetch.Parse(r.given(), "http")
		if err != nil {
			return reject(r.line, r.text, input.ReasonOf(err))
		}
		return list.add(o.Host, &r)
	})
	if err != nil {
		return nil, err
	}
	if f.Needed && len(found.others) == 0 {
		return nil, &userfile.Error{Path: name,
			Err: errors.New("has no label: give a header with a column host or domain, and columns of labels")}
	}
	return found.others, l.take(list)
}

// Put gives a host a value of a label, as an earlier run has it.
func (l *Labels) Put(host, label, value string) {
	if len(l.lists) == 0 {
		l.lists = []*labelList{{}}
	}
	list := l.lists[0]
	at := slices.Index(list.names, label)
	if at < 0 {
		return
	}
	list.put(host, at, value)
}

// Begin begins labels of an earlier run. apart has the values that it counts apart, by label, where
// others count as one.
func (l *Labels) Begin(names []string, apart map[string]map[string]bool) error {
	list := &labelList{from: earlierRun}
	list.begin(names)
	for i, name := range names {
		list.values[i].apart = apart[name]
	}
	return l.take(list)
}

// earlierRun is the name of the labels that an earlier run has.
const earlierRun = "the earlier run"

// take adds the labels of a list.
func (l *Labels) take(list *labelList) error {
	for _, label := range list.names {
		for _, other := range l.lists {
			if !slices.Contains(other.names, label) {
				continue
			}
			how := "rename the column"
			if other.from == earlierRun {
				how += ", or leave --label out"
			}
			return &userfile.Error{Path: list.from,
				Err: fmt.Errorf("has the label %q, which %s has too: %s", label, other.from, how)}
		}
	}
	if len(list.names) > 0 {
		l.lists = append(l.lists, list)
	}
	if n := l.Len(); n > mostLabels {
		return &userfile.Error{Path: list.from,
			Err: fmt.Errorf("gives %d labels, and a run has at most %d: name those that matter with --label", n, mostLabels)}
	}
	return nil
}

func (l *labelList) begin(names []string) {
	l.names, l.values = names, make([]values, len(names))
	for i := range l.values {
		l.values[i].ids = make(map[string]uint32)
	}
}

// add adds a row.
func (l *labelList) add(host string, r *row) error {
	for i, value := range r.labels {
		if !utf8.ValidString(value) {
			if err := l.conflict(r.line, r.text, fmt.Sprintf("label_not_utf8: %s is %s: %s", l.names[i],
				strconv.Quote(summary.Cut(schema.TextString(value))), notUTF8)); err != nil {
				return err
			}
			continue
		}
		if len(value) > maxLabelValue {
			if err := l.conflict(r.line, r.text, fmt.Sprintf("label_too_long: %s has %d bytes, more than %d", l.names[i],
				len(value), maxLabelValue)); err != nil {
				return err
			}
			continue
		}
		if value = schema.TextString(value); value == "" {
			continue
		}
		if before := l.put(host, i, value); before != value {
			why := fmt.Sprintf("label_conflict: %s has the values %s and %s of %s; the first one counts", host,
				strconv.Quote(before), strconv.Quote(value), l.names[i])
			if err := l.conflict(r.line, r.text, why); err != nil {
				return err
			}
		}
	}
	return nil
}

// put gives a host a value unless it has one, and returns the one that it has.
func (l *labelList) put(host string, label int, value string) string {
	next := uint32(len(l.cells) / len(l.names))
	if l.hosts.put(host, next) {
		l.cells = append(l.cells, make([]uint32, len(l.names))...)
	}
	at, _ := l.hosts.get(host)
	cell, v := &l.cells[int(at)*len(l.names)+label], &l.values[label]
	if *cell > 0 {
		return v.texts[*cell-1]
	}
	id, ok := v.ids[value]
	if !ok {
		value = strings.Clone(value)
		id = uint32(len(v.texts))
		v.ids[value] = id
		v.texts, v.rows = append(v.texts, value), append(v.rows, 0)
	}
	v.rows[id]++
	*cell = id + 1
	return value
}

// Settle decides which values count apart: those with the most hosts, or those that an earlier run
// counts apart, which may have had few hosts of its list. It is called once all lists are read. A value
// that has the name of all the others is an error where there are such.
func (l *Labels) Settle() error {
	for _, list := range l.lists {
		for i := range list.values {
			v := &list.values[i]
			v.as, v.ids = v.texts, nil
			if v.apart != nil {
				v.keep(func(k int) bool { return v.apart[v.texts[k]] })
				continue
			}
			if len(v.texts) <= summary.MostValues {
				continue
			}
			if slices.Contains(v.texts, summary.Other) {
				const form = "the label %q has more than %d values, of which the rest counts as %q, and also a value of that " +
					"name: rename the value, or leave the label out"
				return fmt.Errorf(form, list.names[i], summary.MostValues, summary.Other)
			}
			order := make([]int, len(v.texts))
			for k := range order {
				order[k] = k
			}
			slices.SortFunc(order, func(a, b int) int {
				return cmp.Or(cmp.Compare(v.rows[b], v.rows[a]), cmp.Compare(v.texts[a], v.texts[b]))
			})
			kept := make([]bool, len(order))
			for _, k := range order[:summary.MostValues] {
				kept[k] = true
			}
			v.keep(func(k int) bool { return kept[k] })
		}
	}
	return nil
}

// keep has all values but some count as one.
func (v *values) keep(counts func(k int) bool) {
	v.as = slices.Clone(v.texts)
	for k := range v.as {
		if !counts(k) {
			v.as[k] = summary.Other
		}
	}
}

// Of returns the labels of a host.
func (l *Labels) Of(host string) (out []target.Label) {
	for _, list := range l.lists {
		names := append(make([]string, 0, 3), host)
		if other, ok := strings.CutPrefix(host, "www."); ok {
			names = append(names, other)
		} else {
			names = append(names, "www."+host)
		}
		if list.domains {
			names = append(names, fetch.DomainOf(host))
		}
		for label, name := range list.names {
			for _, key := range names {
				at, ok := list.hosts.get(key)
				if !ok {
					continue
				}
				if id := list.cells[int(at)*len(list.names)+label]; id > 0 {
					v := &list.values[label]
					out = append(out, target.Label{Name: name, Value: v.texts[id-1], CountAs: v.as[id-1]})
					break
				}
			}
		}
	}
	return out
}
