package sink

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Counters add up over parts, whatever the parts; null and "" are one label.
func TestCountersAddUpOverParts(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "b", "é", "a long text that is no label"})
	row := rapid.Custom(func(t *rapid.T) Count {
		return Count{
			Metric: "m" + texts.Draw(t, "metric"), Stratum: texts.Draw(t, "stratum"), Agent: NonZero(texts.Draw(t, "agent")), Category: NonZero(texts.Draw(t, "category")),
			Profile: NonZero(texts.Draw(t, "profile")), Key: NonZero(texts.Draw(t, "key")), Count: rapid.Int64Range(-5, 1<<40).Draw(t, "count"),
		}
	})
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		if err := Remove(dir, "r"); err != nil {
			t.Fatal(err)
		}
		run, err := Create(dir, Manifest{Run: "r", Tables: []string{"summary"}})
		if err != nil {
			t.Fatal(err)
		}
		defer run.Close()
		label := func(c Count) [6]string {
			text := func(s *string) string {
				if s == nil {
					return ""
				}
				return *s
			}
			return [6]string{c.Metric, c.Stratum, text(c.Agent), text(c.Category), text(c.Profile), text(c.Key)}
		}
		want, got := make(map[[6]string]int64), make(map[[6]string]int64)
		for index := range rapid.IntRange(0, 4).Draw(t, "parts") {
			rows := rapid.SliceOfN(row, 0, 40).Draw(t, "rows")
			for _, c := range rows {
				want[label(c)] += c.Count
			}
			s, err := run.Segment(index)
			if err == nil {
				err = s.Summary.Write(rows...)
			}
			if err == nil {
				err = s.Commit()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		m, err := ReadManifest(dir, "r")
		if err != nil {
			t.Fatal(err)
		}
		err = ReadCounts(context.Background(), dir, m, func(c Count) {
			if _, twice := got[label(c)]; twice {
				t.Fatalf("%v is given twice", label(c))
			}
			got[label(c)] = c.Count
		})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}
