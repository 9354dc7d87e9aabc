package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// ofFiles returns the base of shares of contents in words.
func (d *data) ofFiles() string {
	switch more := d.texts - d.files; {
	case more == 0:
		return fmt.Sprintf("Shares of %s, one of each host with rules.", counted(d.files, "file"))
	case more > 0:
		return fmt.Sprintf("Shares of %s: those of the %s whose rules decide, and %s that the profile leaves open.", counted(d.texts, "file"), hosts(d.files), count(more))
	}
	return fmt.Sprintf("Shares of the %s whose text was counted.", counted(d.texts, "file"))
}

func (d *data) sizes() *figure {
	bins := d.histogram("body_bytes")
	if len(bins) == 0 {
		return nil
	}
	cut := d.sums.by("body", d.profile, key)["truncated"]
	f := &figure{
		ID: "sizes", Of: d.ofFiles(),
		Title:   fmt.Sprintf("The median file has %s bytes, and nine in ten at most %s; %s the size limit", about(bins.Quantile(0.5)), count(bins.Quantile(0.9)), reach(cut, d.texts)),
		Note:    "Bytes after decoding; what lies beyond the limit is not counted. A column is labelled with its least value.",
		Columns: histogram(bins, d.texts, short, count, "file", "bytes"),
	}
	d.bins(f, "body_bytes", "files", bins)
	f.Examples = d.examples.list("The largest", "bytes", "body_bytes", nil, "largest").measured(count)
	return f
}

func reach(n, of int64) string {
	if n == 0 {
		return "none reaches"
	}
	return percent(n, of) + " reach"
}

func (d *data) features() *figure {
	all := d.sums.by("feature", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "features", Of: d.ofFiles(), Names: words.Feature.Of,
		Title: fmt.Sprintf("%s have a group for all (*), %s a wildcard in a rule, %s a sitemap", ofBase(all["star_group"], d.texts, "files"), percent(all["wildcard"], d.texts), percent(all["sitemap"], d.texts)),
	}
	d.byKey(f, "feature", "feature", "files", false, all, "allow", d.texts)
	return f
}

func (d *data) delays() *figure {
	bins := d.histogram("crawl_delay")
	if len(bins) == 0 {
		return nil
	}
	groups, on := bins.Total(), d.sums.by("feature", d.profile, key)["crawl_delay"]
	most := bins.Grouped()[0]
	for _, b := range bins.Grouped() {
		if b.Count > most.Count {
			most = b
		}
	}
	f := &figure{
		ID: "delays", Of: fmt.Sprintf("Shares of %s with a crawl delay, in %s.", counted(groups, "group"), counted(on, "file")),
		Title:   fmt.Sprintf("%s ask for a crawl delay; %s ask for %s", ofBase(on, d.texts, "files"), ofBase(most.Count, groups, "their groups"), span(most.Bin, count)+" seconds"),
		Note:    "Whole seconds. A column is labelled with its least value.",
		Columns: histogram(bins, groups, short, count, "group", "seconds"),
	}
	d.bins(f, "crawl_delay", "groups", bins)
	var keys []string
	for _, b := range slices.Backward(bins) {
		if len(keys) < 3 {
			keys = append(keys, b.String())
		}
	}
	f.Examples = d.examples.list("Some of the longest", "seconds", "crawl_delay", func(bin string) string { return binName(bin) + " s" }, keys...)
	return f
}

func (d *data) sitemaps() *figure {
	bins, kinds := d.histogram("sitemaps"), d.sums.by("sitemap", d.profile, key)
	if len(bins) == 0 || len(kinds) == 0 {
		return nil
	}
	without := int64(0)
	if bins[0].First == 0 {
		without = bins[0].Count
	}
	lines := kinds["same_host"] + kinds["other_host"] + kinds["relative"]
	f := &figure{
		ID: "sitemaps", Of: d.ofFiles(),
		Title: fmt.Sprintf("%s name a sitemap; of the %s, %s lead to another host and %s are not absolute URLs",
			ofBase(bins.Total()-without, d.texts, "files"), counted(lines, "sitemap line"), percent(kinds["other_host"], lines), percent(kinds["relative"], lines)),
		Note:    "Sitemap lines in a file. A column is labelled with its least value.",
		Columns: histogram(bins, d.texts, short, count, "file", "sitemap lines"),
	}
	d.bins(f, "sitemaps", "files", bins)
	f.Examples = d.examples.list("Examples", "sitemap", "sitemap", func(key string) string {
		return map[string]string{"other_host": "on another host", "relative": "not an absolute URL"}[key]
	}, "other_host", "relative")
	return f
}

// fieldName returns the display name of a field. Key other counts all unknown
// fields.
func fieldName(field string) string {
	if field == "other" {
		return "an unknown field"
	}
	return strings.TrimSuffix(strings.Replace(field, " other", ": something else", 1), "=other")
}

func (d *data) fields() *figure {
	all := d.sums.by("field", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "fields", Of: d.ofFiles(), Names: fieldName,
		Title: commonest("extension", all, d.texts, fieldName),
		Note:  "Fields that the documents do not define. They change no verdict. A crawl-delay counts here wherever it stands, as a feature only where it is a number in a group.",
	}
	d.byKey(f, "field", "field", "files", false, all, "allow", d.texts)
	return f
}

// flaws shows the classes of remarkable lines, except extensions and comments,
// which are not mistakes.
func (d *data) flaws() *figure {
	on, lines := d.sums.by("line_class_hosts", d.profile, key), d.sums.by("line_class", d.profile, key)
	for _, m := range []map[string]int64{on, lines} {
		delete(m, "extension")
		delete(m, "comment")
	}
	if len(on) == 0 {
		return nil
	}
	top := ranked(on)
	f := &figure{
		ID: "flaws", Of: d.ofFiles(), Names: words.LineClass.Of,
		Title: commonest("flaw", on, d.texts, quoted(words.LineClass.Of)),
		Note:  "A file counts once for each flaw that it has. A line without a field is one that is not “field: value”, as in a page of HTML.",
		Head:  []string{"flaw", "files", "lines"},
	}
	f.keyBars(on, "partly", "files", d.texts)
	for _, k := range top {
		f.Rows = append(f.Rows, []string{k, number(on[k]), number(lines[k])})
	}
	f.SQL = "SELECT key AS flaw,\n  " + sumIf("metric = 'line_class_hosts'", "files") + ",\n  " + sumIf("metric = 'line_class'", "lines") + "\n" +
		d.from("line_class line_class_hosts", false) + " AND key NOT IN ('extension', 'comment')\nGROUP BY key ORDER BY files DESC, key"
	f.Examples = d.examples.list("Examples", "text", "line_class", words.LineClass.Of, top...)
	return f
}

func (d *data) bodies() *figure {
	all := d.sums.by("body", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "bodies", Of: d.ofFiles(), Names: words.Body.Of,
		Title: fmt.Sprintf("%s are not UTF-8, %s are HTML, %s begin with a byte order mark, %s have comments and no record", ofBase(all["not_utf8"], d.texts, "files"), percent(all["html"], d.texts), percent(all["bom"], d.texts), percent(all["only_comments"], d.texts)),
	}
	if n := all["only_comments"]; n > 0 {
		f.Note = fmt.Sprintf("Since the autumn of 2025 a content delivery network serves a file of comments alone for sites that used to answer 404. Without such files %s have a robots.txt, with them %s.", ofBase(d.texts-n, d.hosts, "hosts"), percent(d.texts, d.hosts))
	}
	d.byKey(f, "body", "body", "files", false, all, "partly", d.texts)
	return f
}

// commonest returns a sentence about the key that most files have.
func commonest(what string, counts map[string]int64, of int64, named func(string) string) string {
	names, most := leading(counts, named)
	share := ofBase(counts[ranked(counts)[0]], of, "files")
	if strings.HasSuffix(most, "each") {
		return fmt.Sprintf("The commonest %ss are %s, in %s each", what, names, share)
	}
	return fmt.Sprintf("The commonest %s is %s, in %s", what, names, share)
}

// leading returns the names of the keys with the greatest count, and that count.
func leading(counts map[string]int64, named func(string) string) (names, most string) {
	var tied []string
	top := ranked(counts)
	for _, k := range top {
		if counts[k] == counts[top[0]] {
			tied = append(tied, named(k))
		}
	}
	if len(tied) == 1 {
		return tied[0], count(counts[top[0]])
	}
	if more := len(tied) - 3; more > 0 {
		tied = append(tied[:3], count(int64(more))+" more")
	}
	return and(tied), count(counts[top[0]]) + " each"
}

func quoted(named func(string) string) func(string) string {
	return func(key string) string { return "“" + named(key) + "”" }
}

// worst returns the name with the highest rate n/of.
func worst(names []string, n, of map[string]int64) string {
	return slices.MaxFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(float64(n[a])/float64(of[a]), float64(n[b])/float64(of[b])), cmp.Compare(of[a], of[b]), cmp.Compare(b, a))
	})
}
