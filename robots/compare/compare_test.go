package compare

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/robocensus/robocensus/robots"
	"github.com/temoto/robotstxt"
)

// A reader is a package set up for a fixed list of agents.
type reader interface {
	// urls sets the URLs that ask asks about.
	urls([]string)
	// read parses a body. An error means that the package refuses it.
	read(body []byte) error
	// ask sets, for each URL, whether agent number `agent` may fetch it.
	ask(agent int, allowed []bool)
}

type contestant struct {
	name string
	new  func(agents []string) reader
}

// contestants has our package first.
var contestants = []contestant{
	{"robots", func(agents []string) reader { return newOurs(agents, true) }},
	{"temoto", func(agents []string) reader { return &temoto{agents: agents} }},
}

// ours is package robots under the profile google.
type ours struct {
	profile *robots.Profile
	agents  []robots.Agent
	reuse   bool // keep memory from file to file, as a census does
	file    *robots.File
	judge   *robots.Judge
	targets []robots.Target
}

func newOurs(agents []string, reuse bool) *ours {
	p, ok := robots.ProfileNamed("google")
	if !ok {
		panic("no profile google")
	}
	o := &ours{profile: p, reuse: reuse, file: new(robots.File)}
	for _, a := range agents {
		o.agents = append(o.agents, robots.Agent{Name: a, Tokens: []string{a}})
	}
	o.judge = robots.NewJudge(p, o.agents)
	return o
}

func (o *ours) urls(urls []string) {
	o.targets = o.targets[:0]
	for _, u := range urls {
		o.targets = append(o.targets, o.profile.LiteralTarget(u))
	}
}

func (o *ours) read(body []byte) error {
	if !o.reuse {
		o.file = new(robots.File)
		o.judge = robots.NewJudge(o.profile, o.agents)
	}
	o.file.Parse(body, o.profile)
	o.judge.Load(o.file)
	return nil
}

func (o *ours) ask(agent int, allowed []bool) {
	p := o.judge.Policy(agent)
	for i := range o.targets {
		allowed[i] = p.Judge(&o.targets[i]).Value == robots.Permitted
	}
}

// temoto is github.com/temoto/robotstxt.
type temoto struct {
	agents []string
	paths  []string
	data   *robotstxt.RobotsData
}

func (t *temoto) urls(urls []string) {
	t.paths = t.paths[:0]
	for _, u := range urls {
		t.paths = append(t.paths, robots.URLPath(u))
	}
}

func (t *temoto) read(body []byte) (err error) {
	t.data, err = robotstxt.FromBytes(body)
	return err
}

func (t *temoto) ask(agent int, allowed []bool) {
	g := t.data.FindGroup(t.agents[agent]) // once for all URLs
	for i, p := range t.paths {
		allowed[i] = g.Test(p)
	}
}

// A question has a recorded answer.
type question struct {
	name       string
	body       []byte
	agent, url string
	allowed    bool
}

var validToken = regexp.MustCompile(`^[A-Za-z_-]+$`)

const (
	suitesFile = "../../../shared/conformance/suites.jsonl.gz"
	realFile   = "../../../shared/conformance/real.tsv.gz"
	corpusFile = "../../../shared/corpus/robots-real.tar.gz"
)

// open opens a gzipped data file, or skips the test.
func open(t testing.TB, name string) io.Reader {
	t.Helper()
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("%s is missing: recorded answers are kept outside the repository", name)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// corpus reads the real bodies, by host.
func corpus(t testing.TB) map[string][]byte {
	t.Helper()
	bodies := map[string][]byte{}
	r := tar.NewReader(open(t, corpusFile))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return bodies
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if bodies[path.Base(h.Name)], err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// realQuestions returns the questions on real files.
func realQuestions(t testing.TB) (all []question) {
	t.Helper()
	bodies := corpus(t)
	data, err := io.ReadAll(open(t, realFile))
	if err != nil {
		t.Fatal(err)
	}
	// The columns: stratum, file, agent, url, allowed, line, specific.
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		c := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || !validToken.MatchString(c[2]) {
			continue
		}
		body, ok := bodies[c[1]]
		if !ok {
			t.Fatalf("no body %s", c[1])
		}
		all = append(all, question{c[1], body, c[2], c[3], c[4] == "1"})
	}
	return all
}

// suiteQuestions returns the questions of the public test suites. In undisputed
// ones the suite, the RFC and Google's parser agree.
func suiteQuestions(t testing.TB) (all, undisputed []question) {
	t.Helper()
	d := json.NewDecoder(bufio.NewReader(open(t, suitesFile)))
	for {
		var c struct {
			Suite, Name, Robots, Agent, URL string
			RobotsB64                       []byte `json:"robots_b64"`
			URLB64                          []byte `json:"url_b64"`
			Agents                          []string
			Google, Disputed                bool
		}
		if err := d.Decode(&c); err == io.EOF {
			return all, undisputed
		} else if err != nil {
			t.Fatal(err)
		}
		if len(c.Agents) > 0 || !validToken.MatchString(c.Agent) {
			continue
		}
		q := question{c.Suite + "/" + c.Name, []byte(c.Robots), c.Agent, c.URL, c.Google}
		if c.RobotsB64 != nil {
			q.body = c.RobotsB64
		}
		if c.URLB64 != nil {
			q.url = string(c.URLB64)
		}
		all = append(all, q)
		if !c.Disputed {
			undisputed = append(undisputed, q)
		}
	}
}

// answer asks a package one question. A panic is an answer too.
func answer(c contestant, body []byte, q *question) (allowed bool, refusal error, panicked any) {
	defer func() { panicked = recover() }()
	r := c.new([]string{q.agent})
	r.urls([]string{q.url})
	if err := r.read(body); err != nil {
		return false, err, nil
	}
	var a [1]bool
	r.ask(0, a[:])
	return a[0], nil, nil
}

// blame returns the step in which a package goes wrong. It asks again with the
// file in a simple form, as Google's parser reads it: "lines" if that helps,
// "groups" if it helps to leave only the rules that the agent must follow,
// otherwise "rules".
func blame(c contestant, q *question) string {
	p, _ := robots.ProfileNamed("google")
	var f robots.File
	f.Parse(q.body, p)

	var whole, own, star bytes.Buffer
	for _, g := range f.Groups {
		var names string
		var rules bytes.Buffer
		isOwn, isStar := false, false
		for _, a := range f.Agents[g.Agents.From:g.Agents.To] {
			if len(a.Token) > 0 {
				names += fmt.Sprintf("User-agent: %s\n", a.Token)
			}
			isOwn = isOwn || strings.EqualFold(string(a.Token), q.agent)
			isStar = isStar || string(a.Token) == "*"
		}
		for _, r := range f.Rules[g.Rules.From:g.Rules.To] {
			fmt.Fprintf(&rules, "%v: %s\n", r.Kind, r.Pattern)
		}
		switch {
		case isOwn:
			own.WriteString("User-agent: *\n" + rules.String())
		case isStar:
			star.Write(rules.Bytes())
		}
		if names != "" {
			whole.WriteString(names + rules.String())
		}
	}
	only := own.Bytes()
	if own.Len() == 0 {
		only = append([]byte("User-agent: *\n"), star.Bytes()...)
	}
	helps := func(body []byte) bool {
		allowed, refusal, panicked := answer(c, body, q)
		return allowed == q.allowed && refusal == nil && panicked == nil
	}
	switch {
	case helps(whole.Bytes()):
		return "lines"
	case helps(only):
		return "groups"
	}
	return "rules"
}

// stump reports whether the agent is the rest of a name that Google's parser
// cuts at a digit or dot, such as "MJ" of "MJ12bot". Nobody crawls under such a
// name, and only a parser that cuts as Google's does finds the group.
func stump(q *question) bool {
	p, _ := robots.ProfileNamed("google")
	var f robots.File
	f.Parse(q.body, p)
	return slices.ContainsFunc(f.Agents, func(a robots.AgentLine) bool {
		return len(a.Wide) > len(a.Token) && strings.EqualFold(string(a.Token), q.agent)
	})
}

// TestWrong counts each package's wrong verdicts. Ours must have none.
func TestWrong(t *testing.T) {
	suites, undisputed := suiteQuestions(t)
	sets := []struct {
		name      string
		questions []question
	}{
		{"real", realQuestions(t)},
		{"suites", suites},
		{"undisputed", undisputed},
	}
	var table, details strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "questions\tasked\tpackage\twrong\tshare\tpanicked\trefused\tlines\tgroups\trules\topen\tclosed\tif "+
		"refused=allow\twithout stumps\t")
	for _, set := range sets {
		if len(set.questions) == 0 {
			t.Errorf("%s: nothing to ask", set.name)
			continue
		}
		for i, c := range contestants {
			n := map[string]int{}
			examples := map[string]string{} // one per step or refusal
			for k := range set.questions {
				q := &set.questions[k]
				allowed, refusal, panicked := answer(c, q.body, q)
				step := ""
				switch {
				case panicked != nil:
					step = "panicked"
				case refusal != nil:
					step = "refused"
					if !q.allowed {
						n["refused, not allowed"]++
					}
				case allowed == q.allowed:
					continue
				default:
					step = blame(c, q)
					if allowed {
						n["open"]++
					} else {
						n["closed"]++
					}
				}
				n["wrong"]++
				if stump(q) {
					n["stumps"]++
				}
				n[step]++
				if examples[step] == "" {
					examples[step] = fmt.Sprintf("%s, agent %s, URL %s, which is allowed: %v", q.name, q.agent, q.url, q.allowed)
				}
				if i == 0 {
					t.Errorf("%s is wrong (%s): %s, agent %s, URL %s, want allowed=%v", c.name, step, q.name, q.agent, q.url,
						q.allowed)
				}
			}
			share := func(n int) string { return fmt.Sprintf("%.2f %%", 100*float64(n)/float64(len(set.questions))) }
			fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t\n",
				set.name, len(set.questions), c.name, n["wrong"], share(n["wrong"]),
				n["panicked"], n["refused"], n["lines"], n["groups"], n["rules"], n["open"], n["closed"],
				share(n["wrong"]-n["refused"]+n["refused, not allowed"]), share(n["wrong"]-n["stumps"]))
			for _, step := range slices.Sorted(maps.Keys(examples)) {
				fmt.Fprintf(&details, "%s, %s, %s: %s\n", set.name, c.name, step, examples[step])
			}
		}
	}
	w.Flush()
	t.Logf("wrong = panicked + refused + lines + groups + rules; open: allows what is forbidden; closed: the reverse;\n"+
		"if refused=allow: the share if a file refused is taken to allow everything; without stumps: see func stump\n\n%s\n"+
		"The first of each:\n%s",
		&table, &details)
}

// TestRefusals logs the real files that each package refuses.
func TestRefusals(t *testing.T) {
	bodies := corpus(t)
	for i, c := range contestants {
		r := c.new(nil)
		n := 0
		kinds := map[string]int{} // by first error, without its numbers and values
		for _, body := range bodies {
			if err := r.read(body); err != nil {
				n++
				kinds[kind(err)]++
			}
		}
		t.Logf("%s refuses %d of %d files: %v", c.name, n, len(bodies), kinds)
		if i == 0 && n > 0 {
			t.Errorf("%s must accept every file", c.name)
		}
	}
}

var (
	numbers = regexp.MustCompile(`#?\d+`)
	quoted  = regexp.MustCompile("(?s)(`|'|\").*")
)

// kind returns an error's text without the parts particular to the file.
func kind(err error) string {
	text := err.Error()
	if p := (*robotstxt.ParseError)(nil); errors.As(err, &p) && len(p.Errs) > 0 {
		text = p.Errs[0].Error()
	}
	return numbers.ReplaceAllString(quoted.ReplaceAllString(text, "…"), "N")
}

var benchAgents = []string{
	"Googlebot", "Googlebot-Image", "Googlebot-News", "bingbot", "GPTBot", "CCBot", "ClaudeBot",
	"Google-Extended", "PerplexityBot", "Bytespider", "Amazonbot", "Applebot", "AhrefsBot",
	"SemrushBot", "MJ12bot", "YandexBot", "Baiduspider", "DuckDuckBot", "Twitterbot", "ia_archiver",
}

var benchURLs = []string{
	"/", "/index.html", "/search?q=robots", "/wp-admin/admin-ajax.php", "/products/shoes?sort=price&page=2",
	"/blog/2019/12/a-long-title-of-an-article.html", "/api/v1/items.json", "/user/login?next=/", "/images/logo.png",
	"/cart",
}

// benchBodies returns the real bodies that all packages accept, in a fixed
// order.
func benchBodies(b *testing.B) (bodies [][]byte, size int64) {
	all := corpus(b)
	for _, host := range slices.Sorted(maps.Keys(all)) {
		body := all[host]
		q := question{agent: "a", url: "/"}
		fails := func(c contestant) bool {
			_, refusal, panicked := answer(c, body, &q)
			return refusal != nil || panicked != nil
		}
		if !slices.ContainsFunc(contestants, fails) {
			bodies = append(bodies, body)
			size += int64(len(body))
		}
	}
	return bodies, size
}

// bench reads one body after another and asks each about every agent and URL.
// If perBody is set, it prepares the URLs again for each body.
func bench(b *testing.B, agents, urls []string, perBody bool) {
	bodies, size := benchBodies(b)
	run := func(name string, r reader) {
		b.Run(name, func(b *testing.B) {
			r.urls(urls)
			allowed := make([]bool, len(urls))
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				for _, body := range bodies {
					if perBody {
						r.urls(urls)
					}
					if err := r.read(body); err != nil {
						b.Fatal(err)
					}
					for a := range agents {
						r.ask(a, allowed)
					}
				}
			}
			verdicts := float64(b.N * len(bodies) * len(agents) * len(urls))
			b.ReportMetric(verdicts/b.Elapsed().Seconds(), "verdicts/s")
		})
	}
	for _, c := range contestants {
		run(c.name, c.new(agents))
	}
	// The cost of our package if it did not reuse memory from file to file,
	// which the others cannot do.
	run("robots-fresh", newOurs(agents, false))
}

// BenchmarkOne parses and gives one verdict.
func BenchmarkOne(b *testing.B) { bench(b, benchAgents[:1], benchURLs[2:3], true) }

// BenchmarkMany parses and gives the verdicts on 10 URLs for each of 20 agents.
func BenchmarkMany(b *testing.B) { bench(b, benchAgents, benchURLs, false) }
