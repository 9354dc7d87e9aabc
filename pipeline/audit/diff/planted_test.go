package diff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/expect"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// planted are two comparisons, and the same backwards, whose changes are of every kind,
// severity and value of after that there can be, for each agent and profile.
type planted struct {
	dirs []string
	rows []schema.Change
}

func (p *planted) each(f func(dir, before, after string)) {
	for _, dir := range p.dirs {
		f(dir, "a", "b")
		f(dir, "b", "a")
	}
}

func plant(t *testing.T) *planted {
	p := &planted{dirs: []string{plantFiles(t), plantAnswers(t), plantIdentities(t), plantCoverage(t), plantDocuments(t)}}
	p.each(func(dir, before, after string) {
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: before, After: after})
		sinktest.Must(t, err)
		p.rows = append(p.rows, changesOf(t, dir, after, before)...)
	})
	return p
}

// plantedURL is a sitemap, and where a robots.txt is found.
const plantedURL = "https://x.example/s.xml"

// plantAgents makes a run judge for the agents and under the profiles that are planted.
func plantAgents(t *testing.T, c *pipeline.Config) {
	var err error
	c.Evaluate.Agents, _, err = registry.ParseAgents("agents", []byte(
		"- {name: RoboTestA, category: search, policy_tokens: [RoboToken]}\n- {name: RoboTestB, category: ai-training, "+
			"policy_tokens: [RoboToken]}\n- {name: RoboToken, kind: token, uses: [ai-train, ai-input, search]}\n"))
	sinktest.Must(t, err)
	c.Evaluate.Labels, err = registry.ParseUses("uses", configs.Uses, nil)
	sinktest.Must(t, err)
	rfc, _ := robots.ProfileNamed("rfc9309")
	c.Evaluate.Profiles = append(c.Evaluate.Profiles, rfc)
}

// plantCoverage makes two runs whose host lists other pages.
func plantCoverage(t *testing.T) string {
	listed, run := [2]string{listing("/part/", 1, 19), listing("/part/", 19, 1)}, 0
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			io.WriteString(w, "User-agent: RoboTestA\nUser-agent: RoboTestB\nDisallow: /part\n")
		} else {
			io.WriteString(w, strings.ReplaceAll(listed[run], "HOST", r.Host))
		}
	}, "a.example")
	plantAgents(t, &c)
	readSitemaps(&c, 200)
	for i, id := range []string{"a", "b"} {
		run, c.Run = i, id
		_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	return c.Dir
}

// plantFiles makes two runs whose hosts change what their files say.
func plantFiles(t *testing.T) string {
	files := [2]map[string]string{make(map[string]string), make(map[string]string)}
	n := 0
	add := func(before, after string) string {
		n++
		host := fmt.Sprintf("h%d.example", n)
		files[0][host], files[1][host] = guard+"\n"+before, guard+"\n"+after
		return host
	}
	states := []string{"Allow: /", "Disallow: /part", "Disallow: /other", "Disallow: /part\nDisallow: /other",
		"Disallow: /"}
	var own []string
	for _, agent := range []string{"RoboTestA", "RoboTestB"} {
		group := "User-agent: " + agent + "\n"
		for i, before := range states {
			for _, after := range states[:i] {
				add(group+before, group+after)
			}
		}
		for _, rules := range []string{"", "Allow: /", "Disallow: /part", "Disallow: /"} {
			add("", group+rules)
		}
		add(group+"Crawl-delay: 1\nDisallow: /part", group+"Crawl-delay: 2.5\nDisallow: /part")
	}
	for _, agent := range []string{"RoboTestA", "RoboTestB"} {
		group := "User-agent: " + agent + "\nDisallow: /a\n"
		for _, use := range []string{"ai-train", "ai-input", "search"} {
			states := []string{group, group + "Content-Signal: " + use + "=yes", group + "Content-Signal: " + use + "=no",
				group + "User-agent: RoboToken\nDisallow: /part"}
			for i, before := range states {
				for _, after := range states[:i] {
					add(before, after)
				}
			}
		}
	}
	both := "User-agent: RoboTestA\nUser-agent: RoboTestB\n"
	own = append(own, add(both+"Disallow: /a", both+"Disallow: /a\nDisallow: /own"))
	for _, line := range []string{
		"Content-Signal: ai-train=no", "Content-Usage: train-ai=n", "License: https://x.example/l", "Request-rate: 1/5",
		"Visit-time: 0100-0200", "Clean-param: ref /x",
		"Host: mirror.example", "Noindex: /x", "Sitemap: " + plantedURL, "# a comment",
	} {
		add("", line)
		if !strings.HasPrefix(line, "Sitemap") {
			add(both+"Disallow: /a", both+"Disallow: /a\n"+line)
		}
	}
	run := 0
	c := audittest.Config(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, files[run][r.Host]) }, "")
	var hosts strings.Builder
	for i := range n {
		fmt.Fprintf(&hosts, "h%d.example\n", i+1)
	}
	c.Source.Hosts, c.Fetch.PerAddress = sinktest.WriteFile(t, "hosts", []byte(hosts.String())), 50
	plantAgents(t, &c)
	var err error
	c.Evaluate.Samples, err = registry.ParseSamples("urls", []byte("/part\n/other\nhttp://"+own[0]+"/own\n"))
	sinktest.Must(t, err)
	for i, id := range []string{"a", "b"} {
		run, c.Run = i, id
		_, err := pipeline.Run(context.Background(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	return c.Dir
}

// plantAnswers makes two runs whose hosts change how they answer.
func plantAnswers(t *testing.T) string {
	var rows [2][]schema.Fetch
	n := 0
	add := func(before, after schema.Fetch) {
		n++
		for i, f := range []schema.Fetch{before, after} {
			f.Host = fmt.Sprintf("h%d.example", n)
			scheme, _, _ := strings.Cut(f.Origin, "://")
			f.Origin = scheme + "://" + f.Host
			rows[i] = append(rows[i], f)
		}
	}
	answered := func(reason, outcome string) schema.Fetch {
		f := audittest.Fetch("https://x", reason, "", 1)
		f.Outcome = outcome
		return f
	}
	for _, before := range answer.Reasons {
		for _, after := range answer.Reasons {
			if before, after := string(before), string(after); change.Unreachable(before) || change.Unreachable(after) {
				add(answered(before, "full_disallow"), answered(after, "undefined"))
			}
		}
	}
	for _, two := range [][2]string{{"conditional_allow", "full_allow"}, {"conditional_allow", "undefined"},
		{"full_allow", "undefined"}} {
		add(answered("html_redirect", two[0]), answered("html_redirect", two[1]))
	}
	moved := answered("success", "conditional_allow")
	fellBack := moved
	fellBack.Origin, fellBack.FallbackErrorClass = "http://x", new("timeout")
	add(moved, fellBack)
	long := answered("server_error", "full_disallow")
	again := long
	long.UnreachableSince, again.UnreachableSince = new(audittest.FirstDay), new(audittest.FirstDay.Add(time.Hour))
	add(long, again)
	for _, from := range []string{"https://y.example/robots.txt", "https://x.example/robots.txt"} {
		before, after := moved, moved
		before.FinalURL, after.FinalURL = new(from), new(plantedURL)
		add(before, after)
		add(after, before)
	}
	text := moved
	text.ContentDigest = new(strings.Repeat("A", 32))
	other := text
	other.ContentDigest = new(strings.Repeat("B", 32))
	add(text, other)
	for _, outcome := range []string{"conditional_allow", "full_allow", "full_disallow", "undefined"} {
		n++
		f := answered("success", outcome)
		f.Host = fmt.Sprintf("h%d.example", n)
		f.Origin = "https://" + f.Host
		rows[0] = append(rows[0], f)
	}
	dir := t.TempDir()
	audittest.Run(t, dir, "a", []string{"fetches"}, rows[0])
	audittest.Run(t, dir, "b", []string{"fetches"}, rows[1])
	return dir
}

// plantIdentities makes two runs whose hosts change how they answer identities.
func plantIdentities(t *testing.T) string {
	met := []string{"served equal -", "served stricter S", "served looser L", "served mixed M", "other - O",
		"challenged - -", "rate_limited - -", "payment - -", "refused - -"}
	var hosts [2][][]string
	for i, before := range met {
		for _, after := range met[:i] {
			for k, answer := range []string{before, after} {
				hosts[k] = append(hosts[k], []string{aFile, "as-a/RoboTestA " + answer, "as-b/RoboTestB " + answer, control})
			}
		}
	}
	const served = "/ !control served"
	onPage := []string{"served", "served_other", "refused", "challenge", "rate_limited", "payment", "redirected_away"}
	for i, before := range onPage {
		for _, after := range onPage[:i] {
			for k, met := range []string{before, after} {
				hosts[k] = append(hosts[k], []string{aFile, "as-a/RoboTestA served equal -", "as-b/RoboTestB served equal -",
					control, served, "/ as-a/RoboTestA " + met, "/ as-b/RoboTestB " + met})
			}
		}
	}
	dir := t.TempDir()
	answeredRun(t, dir, "a", 0, hosts[0]...)
	answeredRun(t, dir, "b", 0, hosts[1]...)
	return dir
}

// plantDocuments makes two runs whose hosts have other documents of consent, which state other
// things.
func plantDocuments(t *testing.T) string {
	dir := t.TempDir()
	var hosts [2][]answeredHost
	add := func(sides [2]answeredHost) {
		for i, h := range sides {
			h.Fetch = audittest.Fetch(fmt.Sprintf("https://h%d.example", len(hosts[i])), "success", "A", 0)
			hosts[i] = append(hosts[i], h)
		}
	}
	states := []string{"present A", "absent -", "invalid -", "refused -"}
	for i, before := range states {
		for _, after := range states[:i] {
			add([2]answeredHost{{documents: []string{"llms.txt " + before}}, {documents: []string{"llms.txt " + after}}})
		}
	}
	add([2]answeredHost{{documents: []string{"llms.txt present A"}}, {documents: []string{"llms.txt present B"}}})
	stances := []string{"", "disallow", "allow", "priced", "partial"}
	for _, use := range []string{"ai-train", "ai-input", "search"} {
		for i, before := range stances {
			for _, after := range stances[:i] {
				var sides [2]answeredHost
				for k, stance := range []string{before, after} {
					sides[k].documents = []string{"tdmrep present A"}
					switch stance {
					case "":
					case "partial":
						sides[k].stated = []string{"tdmrep " + use + " disallow /a *"}
					default:
						sides[k].stated = []string{"tdmrep " + use + " " + stance + " / *"}
					}
				}
				add(sides)
			}
		}
	}
	for i, id := range []string{"a", "b"} {
		writeAnswered(t, dir, id, 0, hosts[i])
	}
	return dir
}

// A random promise of no change, as its keys.
func randomPromise(p *planted) *rapid.Generator[string] {
	distinct := func(of func(*schema.Change) *string) (out []string) {
		for i := range p.rows {
			if s := of(&p.rows[i]); s != nil {
				out = append(out, *s)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	some := func(t *rapid.T, key string, often int, most int, words []string) string {
		if rapid.IntRange(1, 10).Draw(t, key) > often {
			return ""
		}
		list := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, most, rapid.ID[string]).Draw(t, key)
		for i := range list {
			list[i] = "'" + list[i] + "'"
		}
		return ", " + key + ": [" + strings.Join(list, ", ") + "]"
	}
	after := distinct(func(c *schema.Change) *string { return c.After })
	urls := distinct(func(c *schema.Change) *string {
		if c.Kind == "rules" {
			return nil
		}
		return c.URL
	})
	// Others may be of changes that are not planted.
	after = slices.DeleteFunc(after, func(s string) bool {
		return len(s) == 32 && !strings.ContainsAny(s, "./: ") || strings.Contains(s, "://") && s != plantedURL &&
			!strings.Contains(s, ": ")
	})
	// any severity may have any
	after = slices.DeleteFunc(after, func(s string) bool { _, _, ok := change.ParseCoverage(s); return ok })
	after = append(after, "bogus", "", "closed", "2.50", "http")
	urls = append(urls, "bogus", "")
	return rapid.Custom(func(t *rapid.T) string {
		text := some(t, "no_change", 10, 2, append([]string{"all"}, change.Kinds...)) +
			some(t, "severity", 4, 2, change.Severities) + some(t, "after", 4, 2, after) + some(t, "urls", 2, 2, urls) +
			some(t, "agents", 2, 2, []string{"RoboTestA", "RoboTestB"}) + some(t, "profile", 2, 2,
			[]string{"google", "rfc9309"}) + some(t, "use", 2, 2, []string{"ai-train", "ai-input", "search"}) +
			some(t, "identity", 2, 2, []string{"as-a", "as-b"})
		if !strings.Contains(text, "agents") {
			text += some(t, "category", 2, 2, []string{"search", "ai-training"})
		}
		return strings.TrimPrefix(text, ", ")
	})
}

// A promise that is accepted breaks where all that can change has changed, and one that
// is refused names what no change has.
func TestPromisesThatNothingCanBreakAreRefused(t *testing.T) {
	p := plant(t)
	promise := randomPromise(p)
	size, batches := 120, 2
	if testing.Short() {
		size, batches = 60, 1
	}
	// and not seen at first
	met := []string{"no_change: ['all'], after: ['redirected_away'], agents: ['RoboTestA'], identity: ['as-b']"}
	for range batches {
		var text strings.Builder
		var texts []string
		for len(texts) < size {
			one := promise.Example()
			if len(met) > 0 {
				one, met = met[0], met[1:]
			}
			_, err := expect.Parse("e", []byte("- {name: x, "+one+"}"), nil)
			if err != nil {
				var input *userfile.Error
				if !errors.As(err, &input) || input.Line != 1 {
					t.Errorf("%s: %v", one, err)
				}
				if row := p.breaks(one); row != "" {
					t.Errorf("%s is refused (%v), and %s breaks it", one, err, row)
				}
				continue
			}
			fmt.Fprintf(&text, "- {name: x%d, %s}\n", len(texts), one)
			texts = append(texts, one)
		}
		broken, kept := make([]int64, len(texts)), make([]bool, len(texts))
		p.each(func(dir, before, after string) {
			e, err := expect.Parse("e", []byte(text.String()), nil)
			sinktest.Must(t, err)
			r, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: before, After: after, Expect: e})
			sinktest.Must(t, err)
			for i, x := range r.Expectations {
				broken[i] += x.Broken
				kept[i] = kept[i] || x.State == expect.Kept
			}
		})
		for i, n := range broken {
			// A URL may be another host's, and an identity another agent's; then nothing is kept either.
			if n == 0 && (kept[i] || !strings.Contains(texts[i], "urls") && !strings.Contains(texts[i], "identity")) {
				t.Errorf("nothing breaks %s, kept %v", texts[i], kept[i])
			}
		}
	}
}

// breaks returns a change of one of the kinds that a promise names if each kind and each
// word has one that breaks it, judged by nothing but the columns; else "".
func (p *planted) breaks(promise string) string {
	keys := make(map[string][]string)
	for part := range strings.SplitSeq(promise, "], ") {
		key, list, _ := strings.Cut(strings.TrimSuffix(part, "]"), ": [")
		for w := range strings.SplitSeq(list, ", ") {
			keys[key] = append(keys[key], strings.Trim(w, "'"))
		}
	}
	found := make(map[string]bool) // key and word
	example := ""
	for i := range p.rows {
		row := &p.rows[i]
		columns := map[string]*string{"severity": &row.Severity, "after": row.After, "urls": row.URL, "agents": row.Agent,
			"category": row.Category, "profile": row.Profile, "use": row.Use, "identity": row.Identity}
		matches := func(key string) bool {
			return keys[key] == nil || columns[key] != nil && slices.Contains(keys[key], *columns[key])
		}
		// A row of these does not say all that changed.
		if row.Kind == "signal" && slices.Contains(keys["no_change"], "signal") && (keys["agents"] != nil ||
			keys["category"] != nil) {
			continue
		}
		if row.Kind == "rules" && keys["urls"] != nil || row.Kind == "sitemap" && keys["urls"] != nil &&
			keys["after"] != nil {
			continue
		}
		ok := slices.Contains(keys["no_change"], row.Kind) || slices.Contains(keys["no_change"], "all")
		for key := range columns {
			ok = ok && matches(key)
		}
		if !ok {
			continue
		}
		example = showChange(row)
		found["no_change "+row.Kind], found["no_change all"] = true, true
		for key, value := range columns {
			if value != nil {
				found[key+" "+*value] = true
			}
		}
	}
	for key, words := range keys {
		for _, w := range words {
			if !found[key+" "+w] {
				return ""
			}
		}
	}
	return example
}
