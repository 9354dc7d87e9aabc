package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/cmd/internal/report/counters"
	"github.com/robocensus/robocensus/cmd/internal/report/draw"
	"github.com/robocensus/robocensus/cmd/internal/words"
	"github.com/robocensus/robocensus/sink/summary"
)

// ofFiles returns the base of shares of contents in words.
func (d *data) ofFiles() string {
	switch more := d.texts - d.files; {
	case more == 0:
		return fmt.Sprintf("Shares of %s, one of each %s with rules.", words.Count(d.files, "file"), d.noun())
	case more > 0:
		return fmt.Sprintf("Shares of %s: those of the %s whose rules decide, and %s that the profile leaves open.",
			words.Count(d.texts, "file"), words.Count(d.files, d.noun()), words.Number(more))
	}
	return fmt.Sprintf("Shares of the %s whose text was counted.", words.Count(d.texts, "file"))
}

func (d *data) sizes() *draw.Figure {
	bins := d.histogram("body_bytes")
	if len(bins) == 0 {
		return nil
	}
	cut := d.sums.By("body", d.profile, counters.Key)["truncated"]
	f := &draw.Figure{
		ID: "sizes", Of: d.ofFiles(),
		Title: fmt.Sprintf("The median file has %s bytes, and nine in ten at most %s; %s the size limit",
			about(bins.Quantile(0.5)), words.Number(bins.Quantile(0.9)), reach(cut, d.texts)),
		Note: "Bytes after decoding; what lies beyond the limit is not counted. A column is labelled " +
			"with its least value.",
		Columns: draw.Histogram(bins, d.texts, short, words.Number, "file", "bytes"),
	}
	d.bins(f, "body_bytes", "files", bins)
	f.Examples = d.examples.List("The largest", "bytes", "body_bytes", nil, "largest").Measured(words.Number)
	return f
}

func reach(n, of int64) string {
	if n == 0 {
		return "none reaches"
	}
	return words.Percent(n, of) + " " + words.AgreeOf(n, of, "reaches", "reach")
}

func (d *data) features() *draw.Figure {
	all := d.sums.By("feature", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "features", Of: d.ofFiles(), Names: words.Feature.Of,
		Title: fmt.Sprintf("%s %s a group for all (*), %s a wildcard in a rule, %s a sitemap",
			words.ShareOf(all["star_group"], d.texts, "files"), words.AgreeOf(all["star_group"], d.texts, "has", "have"),
			words.Percent(all["wildcard"], d.texts), words.Percent(all["sitemap"], d.texts)),
	}
	byKey(f, d.from("feature", false), "feature", "files", all, "allow", d.texts)
	return f
}

func (d *data) delays() *draw.Figure {
	bins := d.histogram("crawl_delay")
	if len(bins) == 0 {
		return nil
	}
	groups, on := bins.Total(), d.sums.By("feature", d.profile, counters.Key)["crawl_delay"]
	most := bins.Grouped()[0]
	for _, b := range bins.Grouped() {
		if b.Count > most.Count {
			most = b
		}
	}
	f := &draw.Figure{
		ID: "delays", Of: fmt.Sprintf("Shares of %s with a crawl delay, in %s.", words.Count(groups, "group"),
			words.Count(on, "file")),
		Title: fmt.Sprintf("%s %s for a crawl delay; %s %s for %s", words.ShareOf(on, d.texts, "files"),
			words.AgreeOf(on, d.texts, "asks", "ask"),
			words.ShareOf(most.Count, groups, "groups with one"), words.AgreeOf(most.Count, groups, "asks", "ask"),
			seconds(most.Bin)),
		Note:    "Whole seconds. A column is labelled with its least value.",
		Columns: draw.Histogram(bins, groups, short, words.Number, "group", "seconds"),
	}
	d.bins(f, "crawl_delay", "groups", bins)
	var keys []string
	for _, b := range slices.Backward(bins) {
		if len(keys) < 3 {
			keys = append(keys, b.String())
		}
	}
	f.Examples = d.examples.List("Some of the longest", "seconds", "crawl_delay",
		func(bin string) string { return draw.BinName(bin) + " s" }, keys...)
	return f
}

// seconds says what a bin of crawl delays holds.
func seconds(b summary.Bin) string {
	if b.First == 1 && b.Last == 1 {
		return "1 second"
	}
	return draw.Span(b, words.Number) + " seconds"
}

func (d *data) sitemaps() *draw.Figure {
	bins, kinds := d.histogram("sitemaps"), d.sums.By("sitemap", d.profile, counters.Key)
	if len(bins) == 0 || len(kinds) == 0 {
		return nil
	}
	with := bins.Total()
	if bins[0].First == 0 {
		with -= bins[0].Count
	}
	lines := kinds["same_host"] + kinds["other_host"] + kinds["relative"]
	f := &draw.Figure{
		ID: "sitemaps", Of: d.ofFiles(),
		Title: fmt.Sprintf("%s %s a sitemap; of %s, %s %s to another host and %s %s",
			words.ShareOf(with, d.texts, "files"), words.AgreeOf(with, d.texts, "names", "name"),
			words.Count(lines, "sitemap line"),
			words.Percent(kinds["other_host"], lines), words.AgreeOf(kinds["other_host"], lines, "leads", "lead"),
			words.Percent(kinds["relative"], lines), words.AgreeOf(kinds["relative"], lines, "is not an absolute URL",
				"are not absolute URLs")),
		Note:    "Sitemap lines in a file. A column is labelled with its least value.",
		Columns: draw.Histogram(bins, d.texts, short, words.Number, "file", "sitemap lines"),
	}
	d.bins(f, "sitemaps", "files", bins)
	f.Examples = d.examples.List("Examples", "sitemap", "sitemap", func(key string) string {
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

func (d *data) fields() *draw.Figure {
	all := d.sums.By("field", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	f := &draw.Figure{
		ID: "fields", Of: d.ofFiles(), Names: fieldName,
		Title: commonest("extension", all, d.texts, fieldName),
		Note: "Fields that the documents do not define. They change no verdict. A crawl-delay counts here wherever it " +
			"stands, as a feature only where it is a number in a group.",
	}
	byKey(f, d.from("field", false), "field", "files", all, "allow", d.texts)
	return f
}

// flaws shows the classes of remarkable lines, except extensions and comments,
// which are not mistakes.
func (d *data) flaws() *draw.Figure {
	on, lines := d.sums.By("line_class_hosts", d.profile, counters.Key), d.sums.By("line_class", d.profile, counters.Key)
	for _, m := range []map[string]int64{on, lines} {
		delete(m, "extension")
		delete(m, "comment")
	}
	if len(on) == 0 {
		return nil
	}
	top := counters.Ranked(on)
	f := &draw.Figure{
		ID: "flaws", Of: d.ofFiles(), Names: words.LineClass.Of,
		Title: commonest("flaw", on, d.texts, counters.Quoted(words.LineClass.Of)),
		Note: "A file counts once for each flaw that it has. A line without a field is one that is not “field: value”, " +
			"as in a page of HTML.",
		Head: []string{"flaw", "files", "lines"},
	}
	keyBars(f, on, "partly", "files", d.texts)
	for _, k := range top {
		f.AddRow([]string{k}, on[k], lines[k])
	}
	f.SQL = "SELECT key AS flaw,\n  " + counters.SumIf("metric = 'line_class_hosts'", "files") +
		",\n  " + counters.SumIf("metric = 'line_class'", "lines") + "\n" +
		d.from("line_class line_class_hosts", false) +
		" AND key NOT IN ('extension', 'comment')\nGROUP BY key ORDER BY files DESC, key"
	f.Examples = d.examples.List("Examples", "text", "line_class", words.LineClass.Of, top...)
	return f
}

func (d *data) bodies() *draw.Figure {
	all := d.sums.By("body", d.profile, counters.Key)
	if len(all) == 0 {
		return nil
	}
	told := func(key, one, many string) string {
		return words.Percent(all[key], d.texts) + " " + words.AgreeOf(all[key], d.texts, one, many)
	}
	f := &draw.Figure{
		ID: "bodies", Of: d.ofFiles(), Names: words.Body.Of,
		Title: fmt.Sprintf("%s %s not UTF-8, %s HTML, %s with a byte order mark, %s comments and no record",
			words.ShareOf(all["not_utf8"], d.texts, "files"), words.AgreeOf(all["not_utf8"], d.texts, "is", "are"),
			told("html", "is", "are"), told("bom", "begins", "begin"), told("only_comments", "has", "have")),
	}
	if n := all["only_comments"]; n > 0 {
		f.Note = fmt.Sprintf("Since the autumn of 2025 a content delivery network serves a file of comments alone for "+
			"sites that used to answer 404. Without such files %s %s a robots.txt, with them %s.",
			words.ShareOf(d.texts-n, d.hosts, "hosts"), words.AgreeOf(d.texts-n, d.hosts, "has", "have"),
			words.Percent(d.texts, d.hosts))
	}
	byKey(f, d.from("body", false), "body", "files", all, "partly", d.texts)
	return f
}

// commonest returns a sentence about the key that most files have.
func commonest(what string, counts map[string]int64, of int64, named func(string) string) string {
	names, most, each := counters.Leading(counts, named)
	share := words.ShareOf(most, of, "files")
	if each != "" {
		return fmt.Sprintf("The commonest %ss are %s, in %s each", what, names, share)
	}
	return fmt.Sprintf("The commonest %s is %s, in %s", what, names, share)
}

// highest returns the names with the highest rate n/of, in their order.
func highest(names []string, n, of map[string]int64) (out []string) {
	for _, k := range names {
		if of[k] == 0 {
			continue
		}
		if out != nil {
			switch c := cmp.Compare(n[k]*of[out[0]], n[out[0]]*of[k]); {
			case c < 0:
				continue
			case c > 0:
				out = nil
			}
		}
		out = append(out, k)
	}
	return out
}

// about formats a quantile, which is exact below 100 only.
func about(n int64) string {
	if n < 100 {
		return words.Number(n)
	}
	return "about " + words.Number(n)
}

// short formats the least value of a bin, one digit and zeros, as a label.
func short(n int64) string {
	for _, unit := range []string{"", "k", "M", "G", "T"} {
		if n < 1000 {
			return strconv.FormatInt(n, 10) + unit
		}
		n /= 1000
	}
	return words.Number(n) + "P"
}

// deadNames shows the names that files carry and no operator is known to send: lines that
// address nobody.
func (d *data) deadNames() *draw.Figure {
	all := d.sums.By("dead_name", d.profile, counters.Key)
	files := all["any"]
	if files == 0 {
		return nil
	}
	delete(all, "any")
	lines := sum(d.sums.By("dead_name_lines", d.profile, counters.Key))
	f := &draw.Figure{
		ID: "dead-names", Of: d.ofFiles(), Names: words.Plain,
		Title: fmt.Sprintf("%s of %s %s that no operator is known to send; %s", words.Number(files),
			words.Count(d.texts, "file"), words.Agree(files, "names an agent", "name agents"),
			words.Verbed(lines, "line addresses nobody", "lines address nobody")),
		Note: "Names that lists of crawlers pass on, and for which no page of an operator was found. The registry has " +
			"them as named_only; they are not agents, and count in no other figure.",
	}
	byKey(f, d.from("dead_name", false)+" AND key <> 'any'", "name", "files", all, "star", d.texts)
	f.Examples = d.examples.List("Examples", "line", "dead_name", words.Plain, counters.Ranked(all)...)
	return f
}
