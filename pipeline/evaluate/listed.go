package evaluate

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/sitemap"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/summary"
)

// What a host lists of itself (--sitemaps).

// listedBy returns the sitemaps of a target and the sample of what they list; nil if nobody
// asked for them.
func (e *Evaluator) listedBy(t *target.Target, row *schema.Fetch) *target.Listed {
	if t.Listed != nil {
		return e.again(t.Listed, row)
	}
	if !slices.ContainsFunc(t.Capture.Further, func(f *fetch.Further) bool { return f.Kind == fetch.KindSitemap }) {
		return nil
	}
	out := new(target.Listed)
	var urls []sitemap.Sampled
	from := make(map[string]string) // URLs of pages to those of their sitemaps
	for _, f := range t.Capture.Further {
		if f.Kind != fetch.KindSitemap {
			continue
		}
		file, pages := e.sitemapFile(f, row)
		out.Files = append(out.Files, file)
		for _, p := range pages {
			if _, known := from[p.URL]; !known && strings.HasPrefix(p.URL, row.Origin+"/") {
				from[p.URL], urls = file.URL, append(urls, p)
			}
		}
	}
	for _, p := range sitemap.Smallest(e.config.SitemapSample, urls) {
		out.URLs = append(out.URLs, schema.ListedURL{
			Seq: row.Seq, Host: row.Host, Origin: row.Origin, URL: schema.TextString(p.URL), Sitemap: from[p.URL],
			LastMod: schema.NonZero(schema.TextString(p.LastMod)),
		})
	}
	countChildren(out.Files)
	return out
}

// again returns what an earlier run found for the row of this one.
func (e *Evaluator) again(listed *target.Listed, row *schema.Fetch) *target.Listed {
	for i := range listed.Files {
		f := &listed.Files[i]
		f.Seq, f.Host, f.Rank, f.Origin = row.Seq, row.Host, row.Rank, row.Origin
	}
	var urls []schema.ListedURL
	for _, u := range listed.URLs {
		if strings.HasPrefix(u.URL, row.Origin+"/") && len(urls) < e.config.SitemapSample {
			u.Seq, u.Host, u.Origin = row.Seq, row.Host, row.Origin
			urls = append(urls, u)
		}
	}
	listed.URLs = urls
	return listed
}

// sitemapFile returns the row of a sitemap and the pages that it has in the sample.
func (e *Evaluator) sitemapFile(f *fetch.Further, row *schema.Fetch) (schema.SitemapFile, []sitemap.Sampled) {
	r := schema.SitemapFile{
		Seq: row.Seq, Host: row.Host, Rank: row.Rank, Origin: row.Origin, URL: schema.TextString(f.URL),
		Kind:   string(sitemap.None),
		Status: schema.NonZero(int32(f.Status())), ErrorClass: schema.NonZero(string(f.Error)),
	}
	if line, err := strconv.ParseInt(f.Name, 10, 32); err == nil {
		r.Line = new(int32(line))
	} else {
		r.Parent = schema.NonZero(schema.TextString(f.Name))
	}
	if len(f.Hops) > 0 {
		r.FinalURL, r.FetchTime = new(schema.TextString(f.FinalURL())), new(f.Start.UTC().Truncate(time.Microsecond))
	}
	if r.Outcome = sitemapOutcome(f); f.Reading == nil {
		return r, nil
	}
	got, err := sitemap.ReadingOf(f)
	if err != nil { // of an archive that somebody else wrote
		r.Outcome = summary.SitemapDamaged
		return r, nil
	}
	r.Kind, r.URLs, r.URLsRead, r.URLsNew, r.Outside, r.BeyondFolder, r.Sitemaps, r.Bytes = string(got.Kind), got.URLs,
		got.Listed, got.New, got.Outside, got.BeyondFolder, got.Sitemaps, got.Bytes
	if r.ContentDigest = schema.NonZero(got.Digest); !got.Newest.IsZero() {
		r.LastModNewest = new(got.Newest)
	}
	var remarks []string
	for _, remark := range got.Remarks {
		remarks = append(remarks, string(remark))
	}
	if r.Remark = schema.NonZero(strings.Join(remarks, " ")); got.IsDamaged() || f.Error != "" {
		r.Outcome = summary.SitemapDamaged
	}
	return r, got.Sample
}

// sitemapOutcome returns what came of the request for a sitemap, before it is read.
func sitemapOutcome(f *fetch.Further) string {
	switch status := f.Status(); {
	case f.Outcome == usage.PageDisallowed, f.Outcome == usage.PageUnread:
		return summary.SitemapDisallowed
	case f.Outcome == usage.PageSpared:
		return summary.SitemapSpared
	case f.Outcome == usage.PageElsewhere:
		return summary.SitemapElsewhere
	case f.Outcome == usage.PageRead:
		return summary.SitemapOK
	case f.Outcome == usage.PageFailed:
		return summary.SitemapUnavailable
	case f.Outcome == usage.PageUncaptured:
		return summary.SitemapUncaptured
	case f.Outcome == usage.PageChallenge, slices.Contains(refusals, status):
		return summary.SitemapRefused
	case status >= 400 && status <= 499:
		return summary.SitemapAbsent
	}
	return summary.SitemapUnavailable
}

var refusals = []int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden,
	http.StatusTooManyRequests, http.StatusUnavailableForLegalReasons}

// countChildren notes how many of the sitemaps of each index were asked for.
func countChildren(files []schema.SitemapFile) {
	places := make(map[string]int)
	for i := range files {
		places[files[i].URL] = i
	}
	for i := range files {
		if p := files[i].Parent; p != nil && summary.AskedFor(&files[i]) {
			if at, ok := places[*p]; ok {
				files[at].SitemapsRead++
			}
		}
	}
}

// HostLists returns the key of the metric sitemap_host of a host with these sitemaps, of whose own
// pages so many are judged.
func HostLists(files []schema.SitemapFile, judged int) string {
	some := func(is func(*schema.SitemapFile) bool) bool {
		return slices.ContainsFunc(files, func(f schema.SitemapFile) bool { return is(&f) })
	}
	switch {
	case judged > 0:
		return summary.HostLists
	case some(func(f *schema.SitemapFile) bool { return f.URLs > 0 }):
		return summary.ListsOthers
	case some(func(f *schema.SitemapFile) bool { return f.Kind != string(sitemap.None) }):
		return summary.ListsNobody
	case some(func(f *schema.SitemapFile) bool { return f.Outcome == summary.SitemapDisallowed }):
		return summary.ListsClosed
	case some(func(f *schema.SitemapFile) bool {
		return f.Outcome == summary.SitemapUnavailable || f.Outcome == summary.SitemapRefused ||
			f.Outcome == summary.SitemapElsewhere
	}):
		return summary.ListsDead
	case some(func(f *schema.SitemapFile) bool { return f.Outcome == summary.SitemapUncaptured }):
		return summary.ListsUncaptured
	case some(func(f *schema.SitemapFile) bool { return f.Outcome == summary.SitemapSpared }):
		if some(summary.AskedFor) { // for another, which is not there
			return summary.ListsDead
		}
		return summary.ListsSpared
	}
	return summary.ListsNone
}

// faultOf returns what is wrong with a sitemap that robots.txt names, "" if nothing is.
func faultOf(f *schema.SitemapFile) string {
	read := f.Outcome == summary.SitemapOK || f.Outcome == summary.SitemapDamaged
	switch {
	case f.Line == nil, f.Outcome == summary.SitemapSpared: // or nobody knows
	case !summary.AskedFor(f) && strings.HasPrefix(f.URL, f.Origin+"/"): // no file of another site closes it
		return summary.FaultClosed
	case f.Outcome == summary.SitemapAbsent, f.Outcome == summary.SitemapUnavailable, read &&
		f.Kind == string(sitemap.None):
		return summary.FaultDead
	case read && f.URLs == 0 && f.Sitemaps == 0:
		return summary.FaultEmpty
	case f.URLs > 0 && f.Outside == f.URLs && f.Sitemaps == 0:
		return summary.FaultOutside
	}
	return ""
}

// countListed counts the sitemaps of a host.
func (e *Evaluator) countListed(listed *target.Listed, stratum string) {
	e.counts.Add("sitemap_host", stratum, HostLists(listed.Files, len(listed.URLs)))
	for i := range listed.Files {
		f := &listed.Files[i]
		e.counts.Add("sitemap_file", stratum, f.Kind+" "+f.Outcome)
		if fault := faultOf(f); fault != "" {
			e.once("sitemap_fault", stratum, fault)
			e.examples.Add("sitemap_fault", fault, *f.Line, f.URL)
		}
	}
}
