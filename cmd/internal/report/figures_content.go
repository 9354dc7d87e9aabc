package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robocensus/robocensus/sink"
)

func (d *data) haveFile() string { return fmt.Sprintf("Of the %s that have a file.", hosts(d.files)) }

func (d *data) sizes() *figure {
	bins := d.histogram("body_bytes")
	if len(bins) == 0 {
		return nil
	}
	cut := d.sums.by("body", d.profile, key)["truncated"]
	f := &figure{
		ID: "sizes", Of: d.haveFile() + " Bytes, decoded; what lies beyond the limit is not counted.",
		Title:   fmt.Sprintf("Half of the files have %s bytes or fewer; %s reach the limit", count(bins.Quantile(0.5)), percent(cut, d.files)),
		Note:    "A column is called by its first value.",
		Columns: histogram(bins, d.files, bytesName, "files"),
	}
	d.bins(f, "body_bytes", "files", bins)
	f.Examples = d.examples.list("The largest", "bytes", "body_bytes", "largest").measured(count)
	return f
}

func (d *data) lines() *figure {
	bins := d.histogram("lines")
	if len(bins) == 0 {
		return nil
	}
	f := &figure{
		ID: "lines", Of: d.haveFile() + " An empty file has one line.",
		Title:   fmt.Sprintf("Half of the files have %s lines or fewer", count(bins.Quantile(0.5))),
		Note:    "A column is called by its first value.",
		Columns: histogram(bins, d.files, count, "files"),
	}
	d.bins(f, "lines", "files", bins)
	return f
}

func (d *data) features() *figure {
	all := d.sums.by("feature", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "features", Of: d.haveFile(),
		Title: fmt.Sprintf("%s of the files have a group for all (*), %s a wildcard in a rule, %s a sitemap", percent(all["star_group"], d.files), percent(all["wildcard"], d.files), percent(all["sitemap"], d.files)),
		Note:  "joined: a line other than a rule stands among a group's agents, and other readers may see two groups there.",
	}
	f.keyBars(all, d.files, "allow", "hosts")
	d.byKey(f, "feature", "feature", "hosts", false, all)
	return f
}

func (d *data) delays() *figure {
	bins := d.histogram("crawl_delay")
	if len(bins) == 0 {
		return nil
	}
	groups, on := bins.Total(), d.sums.by("feature", d.profile, key)["crawl_delay"]
	shown := bins.Grouped()
	most := slices.MaxFunc(shown, func(a, b sink.BinCount) int { return cmp.Compare(a.Count, b.Count) })
	f := &figure{
		ID: "delays", Of: fmt.Sprintf("Of the %s groups that set a crawl delay, on %s.", count(groups), hosts(on)),
		Title:   fmt.Sprintf("%s of files ask for a crawl delay; %s of the %s delays are %s", percent(on, d.files), percent(most.Count, groups), count(groups), span(most.Bin, secondsName)),
		Note:    "Whole seconds; a column is called by its first value.",
		Columns: histogram(bins, groups, secondsName, "groups"),
	}
	d.bins(f, "crawl_delay", "groups", bins)
	var keys []string
	for _, b := range slices.Backward(bins) {
		keys = append(keys, b.String())
	}
	f.Examples = d.examples.list("The first of the longest", "seconds", "crawl_delay", keys[:min(len(keys), 3)]...)
	return f
}

func (d *data) sitemaps() *figure {
	bins, kinds := d.histogram("sitemaps"), d.sums.by("sitemap", d.profile, key)
	if len(bins) == 0 || len(kinds) == 0 {
		return nil
	}
	none := int64(0)
	if bins[0].First == 0 {
		none = bins[0].Count
	}
	lines := kinds["same_host"] + kinds["other_host"] + kinds["relative"]
	f := &figure{
		ID: "sitemaps", Of: d.haveFile(),
		Title:   fmt.Sprintf("%s of files name a sitemap; of the %s sitemap lines %s lead to another host and %s are no absolute URL", percent(d.files-none, d.files), count(lines), percent(kinds["other_host"], lines), percent(kinds["relative"], lines)),
		Note:    "Sitemap lines in a file; a column is called by its first value.",
		Columns: histogram(bins, d.files, count, "files"),
	}
	d.bins(f, "sitemaps", "files", bins)
	f.Examples = d.examples.list("The first that lead to another host, or are relative", "sitemap", "sitemap", "other_host", "relative")
	return f
}

func (d *data) fields() *figure {
	all := d.sums.by("field", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	top := ranked(all)
	f := &figure{
		ID: "fields", Of: d.haveFile(),
		Title: fmt.Sprintf("The extension most in use is %s, in %s of files", top[0], percent(all[top[0]], d.files)),
		Note:  "Fields that the documents do not define, and that change no verdict; other stands for those that nobody knows.",
	}
	f.keyBars(all, d.files, "allow", "hosts")
	if top[0] == "other" {
		f.Title = fmt.Sprintf("%s of files have a field that nobody knows", percent(all["other"], d.files))
	}
	d.byKey(f, "field", "field", "hosts", false, all)
	return f
}

func (d *data) signals() *figure {
	all := d.sums.by("signal", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	top := ranked(all)
	f := &figure{
		ID: "signals", Of: d.haveFile(),
		Title: fmt.Sprintf("%s of files say ai-train=no in a content signal, %s ai-train=yes", percent(all["content-signal ai-train=no"], d.files), percent(all["content-signal ai-train=yes"], d.files)),
		Note:  "Extensions that have a format, and what content signals and usage preferences say.",
	}
	f.keyBars(all, d.files, "allow", "hosts")
	if all["content-signal ai-train=no"]+all["content-signal ai-train=yes"] == 0 {
		f.Title = fmt.Sprintf("No file says in a content signal what it thinks of AI training; the signal most in use is %s, in %s", top[0], percent(all[top[0]], d.files))
	}
	d.byKey(f, "signal", "signal", "hosts", false, all)
	f.Examples = d.examples.list("The first of each", "text", "signal", top...)
	return f
}

// lint is what is remarkable about lines, but for extensions and comments,
// which are no mistakes.
func (d *data) lint() *figure {
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
		ID: "lint", Of: d.haveFile(),
		Title: fmt.Sprintf("The commonest flaw is %s, in %s of files", top[0], percent(on[top[0]], d.files)),
		Note:  "A line may have several. no_field is a line that is not “field: value”, as in a page of HTML.",
		Head:  []string{"class", "hosts", "lines"},
	}
	f.keyBars(on, d.files, "partly", "hosts")
	for _, k := range top {
		f.Rows = append(f.Rows, []string{k, count(on[k]), count(lines[k])})
	}
	f.SQL = "SELECT key AS class,\n  " + sumIf("metric = 'line_class_hosts'", "hosts") + ",\n  " + sumIf("metric = 'line_class'", "lines") + "\n" +
		d.from("line_class line_class_hosts", false) + " AND key NOT IN ('extension', 'comment')\nGROUP BY key ORDER BY hosts DESC, key"
	f.Examples = d.examples.list("The first of each", "text", "line_class", top...)
	return f
}

func (d *data) bodies() *figure {
	all := d.sums.by("body", d.profile, key)
	if len(all) == 0 {
		return nil
	}
	f := &figure{
		ID: "bodies", Of: d.haveFile(),
		Title: fmt.Sprintf("%s of files are not UTF-8, %s are HTML, %s begin with a byte order mark", percent(all["not_utf8"], d.files), percent(all["html"], d.files), percent(all["bom"], d.files)),
	}
	f.keyBars(all, d.files, "partly", "hosts")
	d.byKey(f, "body", "body", "hosts", false, all)
	return f
}
