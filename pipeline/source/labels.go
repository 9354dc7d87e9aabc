package source

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline/source/hosts"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// LabelsOf returns the labels of a target.
func (s *Source) LabelsOf(t *target.Target) []target.Label {
	if s.labels.Len() == 0 {
		return t.Labels // of a list that has them, or none
	}
	if t.Capture != nil {
		return s.labels.Of(t.Capture.Origin.Host)
	}
	return s.labels.Of(t.Candidates[0].Host)
}

// LabelValues returns the number of values of labels that count apart.
func (s *Source) LabelValues() int { return s.labels.Values() }

// HasLabels reports whether targets may have labels.
func (c *Config) HasLabels() bool { return len(c.Label)+len(c.Carried) > 0 || c.Labels != "" }

// OwnLabels returns the labels that are wanted and need no list.
func (c *Config) OwnLabels() (names []string) {
	for _, name := range slices.Concat(c.Label, c.Carried) {
		if schema.IsOwnLabel(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// PlannedLabels returns what reads the lists of labels for the lists of shards, nil if none is
// wanted. check is called with the number of values that count apart.
func (s *Source) PlannedLabels(ctx context.Context, check func(values int) error) hosts.PlannedLabels {
	if s == nil || !s.config.listsLabels() {
		return nil
	}
	return func(reject func(role string, line int64, text, reason string) error) (func(string) []target.Label, error) {
		err := s.readLabels(ctx, reject)
		if err == nil {
			err = check(s.labels.Values())
		}
		return s.labels.Of, err
	}
}

// listsLabels reports whether labels of lists are wanted.
func (c *Config) listsLabels() bool {
	return c.Labels != "" || slices.ContainsFunc(c.Label, func(name string) bool { return !schema.IsOwnLabel(name) })
}

// readLabels reads the lists of labels. The list of a planned shard has those of its hosts.
func (s *Source) readLabels(ctx context.Context,
	reject func(role string, line int64, text, reason string) error) error {
	c := &s.config
	if c.Planned != "" {
		return nil
	}
	wanted := slices.DeleteFunc(slices.Clone(c.Label), schema.IsOwnLabel)
	var columns, names []string
	read := func(role string, f hosts.LabelFile) error {
		if f.Path == "" || len(f.Wanted) == 0 {
			return nil
		}
		found, err := s.labels.Read(ctx, f, func(line int64, text, reason string) error {
			return reject(role, line, text, reason)
		})
		columns, names = append(columns, found...), append(names, remote.Name(f.Path))
		return err
	}
	err := s.earlierLabels(ctx, slices.Concat(wanted, c.Carried), &columns)
	if err == nil {
		err = read("hosts", hosts.LabelFile{Path: c.Hosts, Column: c.Column, Wanted: wanted})
	}
	if err == nil {
		err = read("ranks", hosts.LabelFile{Path: c.Ranks, Wanted: wanted})
	}
	if err == nil {
		// If another list has all names, they do not choose among the columns of --labels.
		chosen := wanted
		if !slices.ContainsFunc(wanted, func(name string) bool { return !hasColumn(columns, name) }) {
			chosen = []string{hosts.AllLabels}
		}
		err = read("labels", hosts.LabelFile{Path: c.Labels, Wanted: chosen, Domains: true, Needed: true})
	}
	if err == nil {
		err = c.missing(wanted, columns, names)
	}
	if err != nil {
		return err
	}
	if err := s.labels.Settle(); err != nil {
		return &userfile.Error{Path: cmp.Or(strings.Join(names, ", "), "the earlier run"), Err: err}
	}
	return nil
}

func hasColumn(columns []string, name string) bool {
	return slices.ContainsFunc(columns, func(column string) bool { return hosts.SameColumn(name, column) })
}

// missing returns the error of labels that no list has.
func (c *Config) missing(wanted, columns, lists []string) error {
	of, what := strings.Join(lists, ", "), "column"
	if of == "" && c.FromRun != "" {
		of, what = "the earlier run", "label"
	}
	for _, name := range wanted {
		if hasColumn(columns, name) || name == hosts.AllLabels && (len(columns) > 0 || c.FromRun != "") {
			continue
		}
		var quoted []string
		for i, column := range columns {
			if !hasColumn(columns[:i], column) { // of several lists
				quoted = append(quoted, strconv.Quote(column))
			}
		}
		err := fmt.Errorf("has no %s %q (--label); it has %s", what, name, strings.Join(quoted, ", "))
		if len(columns) == 0 {
			err = fmt.Errorf("has no column for --label %s; labels are the columns beside those of hosts, URLs and ranks, "+
				"of a list with a header", name)
		}
		if of == "" {
			of = "the source"
		}
		return &userfile.Error{Path: of, Err: err}
	}
	return nil
}

// earlierLabels takes labels from the earlier run that is judged again.
func (s *Source) earlierLabels(ctx context.Context, wanted []string, columns *[]string) error {
	if s.from == nil || len(wanted) == 0 {
		return nil
	}
	names, err := s.from.LabelNames(ctx)
	if err != nil {
		return err
	}
	*columns = append(*columns, names...)
	names = slices.DeleteFunc(names, func(name string) bool {
		return schema.IsOwnLabel(name) ||
			!slices.ContainsFunc(wanted, func(w string) bool { return w == hosts.AllLabels || hosts.SameColumn(w, name) })
	})
	if len(names) == 0 {
		return nil
	}
	apart, err := s.from.CountedApart(ctx)
	if err == nil {
		err = s.labels.Begin(names, apart)
	}
	if err != nil {
		return err
	}
	return s.from.EachLabel(ctx, func(batch []schema.Label) error {
		for i := range batch {
			s.labels.Put(batch[i].Host, batch[i].Label, batch[i].Value)
		}
		return nil
	})
}
