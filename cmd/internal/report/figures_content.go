package report

import (
	"fmt"
	"slices"
)

// middle is the bin in which the median lies.
func middle(bins map[string]int64) (bin int64) {
	whole, below := int64(0), int64(0)
	for _, n := range bins {
		whole += n
	}
	for _, k := range ascending(bins) {
		if below += bins[k]; 2*below >= whole {
			return first(k)
		}
	}
	return 0
}

func (d *data) haveFile() string { return fmt.Sprintf("Of the %s that have a file.", hosts(d.files)) }

func (d *data) sizes() *figure {
	bins := d.sums.by("body_bytes", d.profile, key)
	if len(bins) == 0 {
		return nil
	}
	at, cut := middle(bins), d.sums.by("body", d.profile, key)["truncated"]
	f := &figure{
		ID: "sizes", Of: d.haveFile() + " Bytes, decoded; what lies beyond the limit is not counted.",
		Title:   fmt.Sprintf("Half of the files have %s bytes or fewer; %s reach the limit", lastOf(at), percent(cut, d.files)),
		Note:    "Bins double: a column is called by its first value.",
		Columns: histogram(bins, d.files, bytesName, "files"),
	}
	d.bins(f, "body_bytes", "files", bins)
	f.Examples = d.examples.list("The largest", "bytes", "body_bytes", "largest").measured(count)
	return f
}

// lastOf names the last value of a bin.
func lastOf(at int64) string {
	if at < 2 {
		return count(at)
	}
	return count(2*at - 1)
}

func (d *data) lines() *figure {
	bins := d.sums.by("lines", d.profile, key)
	if len(bins) == 0 {
		return nil
	}
	f := &figure{
		ID: "lines", Of: d.haveFile() + " An empty file has one line.",
		Title:   fmt.Sprintf("Half of the files have %s lines or fewer", lastOf(middle(bins))),
		Note:    "Bins double: a column is called by its first value.",
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
	bins := d.sums.by("crawl_delay", d.profile, key)
	if len(bins) == 0 {
		return nil
	}
	groups, on := int64(0), d.sums.by("feature", d.profile, key)["crawl_delay"]
	for _, n := range bins {
		groups += n
	}
	most := ranked(bins)[0]
	f := &figure{
		ID: "delays", Of: fmt.Sprintf("Of the %s groups that set a crawl delay, on %s.", count(groups), hosts(on)),
		Title:   fmt.Sprintf("%s of files ask for a crawl delay; %s of the %s delays are %s", percent(on, d.files), percent(bins[most], groups), count(groups), span(first(most), secondsName)),
		Note:    "Whole seconds; bins double: a column is called by its first value.",
		Columns: histogram(bins, groups, secondsName, "groups"),
	}
	d.bins(f, "crawl_delay", "groups", bins)
	keys := ascending(bins)
	slices.Reverse(keys)
	f.Examples = d.examples.list("The first of the longest", "seconds", "crawl_delay", keys[:min(len(keys), 3)]...)
	return f
}

func (d *data) sitemaps() *figure {
	bins, kinds := d.sums.by("sitemaps", d.profile, key), d.sums.by("sitemap", d.profile, key)
	if len(bins) == 0 || len(kinds) == 0 {
		return nil
	}
	lines := kinds["same_host"] + kinds["other_host"] + kinds["relative"]
	f := &figure{
		ID: "sitemaps", Of: d.haveFile(),
		Title:   fmt.Sprintf("%s of files name a sitemap; of the %s sitemap lines %s lead to another host and %s are no absolute URL", percent(d.files-bins["0"], d.files), count(lines), percent(kinds["other_host"], lines), percent(kinds["relative"], lines)),
		Note:    "Sitemap lines in a file; bins double: a column is called by its first value.",
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
