package diff

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// told is a robots.txt, or a status, or an address to go to.
type told struct {
	status int // 0 for 200
	to     string
	text   string
}

// recipe is what happens to a host from one run to the next, and the changes
// that this is, in the words of showChange without the origin. Text stands
// before some other robots.txt, with a guard between that takes what stands
// there before its first group.
type recipe struct {
	name          string
	before, after *told // nil: not in the list
	alone         bool  // there is no other text after it
	own           bool  // http://host/own is a sample
	changes       string
}

const twoGroups = "User-agent: RoboTestA\nDisallow: /private\n\nUser-agent: RoboTestB\nDisallow: /b\n\n"

func text1(s string) *told { return &told{text: s} }

// The changes of class and of verdicts are told for each of two profiles: {P}.
var recipes = []recipe{
	{"closed", text1(twoGroups), text1(strings.Replace(twoGroups, "/private", "/", 1)), false, true, `
policy_class critical RoboTestA search {P} - partial disallow_all - -
verdict major RoboTestA search {P} http://{H}/own allow disallow - 2`},
	{"opened in part", text1(strings.Replace(twoGroups, "/private", "/", 1)), text1(twoGroups), false, true, `
policy_class major RoboTestA search {P} - disallow_all partial - -
verdict minor RoboTestA search {P} / disallow allow 2 -
verdict minor RoboTestA search {P} /products/ disallow allow 2 -
verdict minor RoboTestA search {P} http://{H}/own disallow allow 2 -`},
	{"closed and all open before", text1(strings.Replace(twoGroups, "/b", "", 1)),
		text1(strings.Replace(twoGroups, "/b", "/", 1)), false, false, `
policy_class critical RoboTestB ai-training {P} - allow_all disallow_all - -`},
	{"opened", text1(strings.Replace(twoGroups, "/b", "/", 1)), text1(strings.Replace(twoGroups, "/b", "", 1)), false,
		false, `
policy_class major RoboTestB ai-training {P} - disallow_all allow_all - -`},
	{"closed in part", text1(strings.Replace(twoGroups, "Disallow: /b", "Allow: /b", 1)),
		text1(strings.Replace(twoGroups, "/b", "/private", 1)), false, false, `
policy_class major RoboTestB ai-training {P} - allow_all partial - -
verdict minor RoboTestB ai-training {P} /private allow disallow - 5`},
	{"no longer closed in part", text1(twoGroups), text1(strings.Replace(twoGroups, "/private", "", 1)), false, false, `
policy_class minor RoboTestA search {P} - partial allow_all - -`},
	{"one URL closed", text1(twoGroups), text1(strings.Replace(twoGroups, "/b", "/b\nDisallow: /prod", 1)), false, true, `
verdict major RoboTestB ai-training {P} /products/ allow disallow - 6
rules major RoboTestB ai-training {P} /prod - closes - 6`},
	{"one URL opened", text1(twoGroups), text1(strings.Replace(twoGroups, "Disallow: /private",
		"Allow: /private\nDisallow: /p*q", 1)), false, false, `
verdict minor RoboTestA search {P} /private disallow allow 2 2
rules major RoboTestA search {P} /pq - both - 3`},
	{"a group for an agent of no registry", text1(twoGroups), text1("User-agent: Stranger\nDisallow: /\n\n" + twoGroups),
		false, false, `
group minor stranger - - - - disallow_all - 1`},
	{"such a group vanishes", text1("User-agent: Stranger\nUser-agent: Other\nDisallow: /x\n\n" + twoGroups),
		text1(twoGroups), false, false, `
group minor stranger - - - partial - 1 -
group minor other - - - partial - 1 -`},
	{"such a group closes", text1("User-agent: Stranger\nDisallow: /x\n\n" + twoGroups),
		text1("User-agent: Stranger\nDisallow: /\n\n" + twoGroups), false, false, `
group minor stranger - - - partial disallow_all 1 1`},
	{"other terms of use", text1("User-agent: RoboTestA\nContent-Signal: search=yes, ai-train=yes\n" + twoGroups),
		text1("User-agent: RoboTestA\nContent-Signal: search=yes, ai-train=no\n" + twoGroups), false, false, `
signal major RoboTestA search - - content-signal:_ai-train=yes content-signal:_ai-train=no 2 2
preference major RoboTestA search {P} ai-train allow disallow 2 2`},
	{"signals come and go", text1("License: https://x.example/license\n" + twoGroups),
		text1("Host: mirror.example\n" + twoGroups), false, false, `
signal major - - - - license:_https://x.example/license - 1 -
signal minor - - - - - host:_mirror.example - 1`},
	{"sitemaps come and go", text1("Sitemap: https://x.example/1.xml\nSitemap: https://x.example/2.xml\n" + twoGroups),
		text1("Sitemap: https://x.example/3.xml\nSitemap: https://x.example/2.xml\n" + twoGroups), false, false, `
sitemap minor - - - https://x.example/1.xml https://x.example/1.xml - 1 -
sitemap minor - - - https://x.example/3.xml - https://x.example/3.xml - 1`},
	{"crawl delays", text1("User-agent: Stranger\nCrawl-delay: 5\nDisallow: /x\n\n" + twoGroups),
		text1("User-agent: Stranger\nCrawl-delay: 2.5\nDisallow: /x\n\n" + strings.Replace(twoGroups, "/b",
			"/b\nCrawl-delay: 1", 1)), false, false, `
crawl_delay minor stranger - - - 5 2.5 1 1
crawl_delay minor RoboTestB ai-training - - - 1 8 8`},
	{"no robots.txt any more", text1(twoGroups + "Sitemap: https://x.example/1.xml\n"), &told{status: 404}, true, false, `
policy_class minor RoboTestA search {P} - partial allow_all - -
policy_class minor RoboTestB ai-training {P} - partial allow_all - -
outcome major - - - - conditional_allow full_allow - -
group minor RoboTestA search - - partial - 1 -
group minor RoboTestB ai-training - - partial - 4 -
sitemap minor - - - https://x.example/1.xml https://x.example/1.xml - 7 -`},
	{"a first robots.txt", &told{status: 410}, text1("User-agent: *\nDisallow: /"), true, false, `
policy_class critical RoboTestA search {P} - allow_all disallow_all - -
policy_class critical RoboTestB ai-training {P} - allow_all disallow_all - -
policy_class critical RoboTestC other {P} - allow_all disallow_all - -
outcome minor - - - - full_allow conditional_allow - -
group minor * - - - - disallow_all - 1`},
	{"does not answer", text1(twoGroups), &told{status: 503}, false, false, `
reachability major - - - - success server_error - -`},
	{"is back with another text", &told{status: 500}, text1("User-agent: *\nDisallow: /\n"), true, false, `
reachability minor - - - - server_error success - -`},
	{"is still away", &told{status: 500}, &told{status: 503}, false, false, ""},
	{"new", nil, text1(twoGroups), false, false, `
host_new minor - - - - - conditional_allow - -`},
	{"gone", text1(twoGroups), nil, false, false, `
host_gone minor - - - - conditional_allow - - -`},
	{"goes elsewhere", text1(twoGroups), &told{to: "http://other.example/robots.txt", text: twoGroups}, true, false, `
redirect major - - - - http://{H}/robots.txt http://other.example/robots.txt - -`},
	{"goes to another place of its own", text1(twoGroups), &told{to: "http://{H}/robots-2.txt", text: twoGroups}, false,
		false, `
redirect minor - - - - http://{H}/robots.txt http://{H}/robots-2.txt - -`},
	{"another comment", text1(twoGroups), text1("# of today\n" + twoGroups), false, true,
		"text cosmetic - - - - {D} {D} - -"},
	{"other ends of lines", text1(twoGroups), text1(strings.ReplaceAll(twoGroups, "\n", "\r\n")), false, true,
		"text cosmetic - - - - {D} {D} - -"},
	{"another order and case", text1(twoGroups + "Sitemap: https://x.example/1.xml\n"),
		text1("sitemap: https://x.example/1.xml\n" + strings.ToLower(twoGroups)), true, false,
		"text cosmetic - - - - {D} {D} - -"},
	{"a rule that no sample meets", text1(twoGroups), text1(strings.Replace(twoGroups, "/b", "/b\nDisallow: /nowhere",
		1)), false, false, `
rules major RoboTestB ai-training {P} /nowhere - closes - 6`},
	{"the same", text1(twoGroups), text1(twoGroups), false, true, ""},
	{"closed in part, and a URL that was asked for by name", text1(strings.Replace(twoGroups, "Disallow: /b", "Allow: /b",
		1)), text1(strings.Replace(twoGroups, "/b", "/own", 1)), false, true, `
policy_class major RoboTestB ai-training {P} - allow_all partial - -
verdict major RoboTestB ai-training {P} http://{H}/own allow disallow - 5`},
	{"such a group closes a part", text1("User-agent: Stranger\nDisallow: /x\n\n" + twoGroups),
		text1("User-agent: Stranger\nDisallow: /x\nDisallow: /y\n\n" + twoGroups), false, false, `
rules major stranger - {P} /y - closes - 3`},
	{"a part opens", text1(twoGroups), text1(strings.Replace(twoGroups, "/b", "/b/c", 1)), false, false, `
rules minor RoboTestB ai-training {P} /b - opens 5 -`},
	{"a group for one that had followed another", text1("User-agent: *\nDisallow: /x\n"),
		text1("User-agent: *\nDisallow: /x\n\nUser-agent: RoboTestC\nDisallow: /x\nDisallow: /y\n"), true, false, `
rules major RoboTestC other {P} /y - closes - 6
group minor RoboTestC other - - - partial - 4`},
	{"a copy of such a group", text1("User-agent: *\nDisallow: /x\n"),
		text1("User-agent: *\nDisallow: /x\n\nUser-agent: RoboTestC\nDisallow: /x\n"), true, false, `
group minor RoboTestC other - - - partial - 4`},
	{"copies of one group, each with its own lines",
		text1("User-agent: RoboTestA\nDisallow: /x\n\nUser-agent: RoboTestB\nDisallow: /x\n\n"),
		text1("User-agent: RoboTestA\nDisallow: /x/y\n\nUser-agent: RoboTestB\nDisallow: /x/y\n\n"), false, false, `
rules minor RoboTestA search {P} /x - opens 2 -
rules minor RoboTestB ai-training {P} /x - opens 5 -`},
	{"an implied rule", text1(twoGroups), text1(strings.Replace(twoGroups, "/b", "/b\nDisallow: /b/c\nAllow: /c", 1)),
		false, false, "text cosmetic - - - - {D} {D} - -"},
	{"a first statement about use, and one that ends", text1("User-agent: RoboTestA\nContent-Usage: search=y\n" +
		twoGroups), text1(twoGroups + "Content-Usage: train-ai=n\n"), false, false, `
signal major RoboTestA search - - content-usage:_search=y - 2 -
signal major RoboTestB ai-training - - - content-usage:_train-ai=n - 7
preference minor RoboTestA search {P} search allow - 2 -
preference major RoboTestB ai-training {P} ai-train - disallow - 7`},
	{"a statement to one that is shut out", text1(twoGroups + "Content-Signal: ai-train=no\n"),
		text1(strings.Replace(twoGroups, "/b", "/", 1) + "Content-Signal: ai-train=no\n"), false, false, `
policy_class critical RoboTestB ai-training {P} - partial disallow_all - -`},
	{"a statement for other paths", text1(twoGroups + "Content-Usage: /x train-ai=n\nContent-Usage: /w train-ai=n\n"),
		text1(twoGroups + "Content-Usage: /w train-ai=n\nContent-Usage: /y train-ai=n\n"), false, false, `
signal major RoboTestB ai-training - - content-usage:_/x_train-ai=n - 7 -
signal major RoboTestB ai-training - - - content-usage:_/y_train-ai=n - 8
preference minor RoboTestB ai-training {P} ai-train partial undecided 7 7`},
}

const guard = "User-agent: RoboTestGuard\nDisallow: /guard\n"

// web answers as the run that is under way finds it.
type web struct {
	run  atomic.Int32
	told [2]map[string]*told
}

func (w *web) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	say := w.told[w.run.Load()][r.Host]
	if r.Host == "other.example" {
		say = text1(twoGroups)
	}
	switch {
	case say == nil:
		out.WriteHeader(http.StatusNotFound)
	case say.to != "" && r.URL.Path == "/robots.txt":
		http.Redirect(out, r, strings.ReplaceAll(say.to, "{H}", r.Host), http.StatusFound)
	default:
		out.WriteHeader(max(say.status, 200))
		io.WriteString(out, say.text)
	}
}

// script has texts for hosts, makes the recipes happen to n of them, in turn,
// and leaves the others alone. It gives the web, the lists of both runs, the
// samples, and the changes that are to be found.
func script(texts map[string]string, n int) (w *web, lists [2]string, samples string, changes []string) {
	w = &web{}
	var hosts []string
	for host := range texts {
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	samples = "/\n/private\n/products/\n"
	for i := range w.told {
		w.told[i] = make(map[string]*told)
	}
	for i, host := range hosts {
		r := recipe{before: text1(""), after: text1("")}
		if i < n {
			r = recipes[i%len(recipes)]
		}
		for k, say := range []*told{r.before, r.after} {
			if say == nil {
				continue
			}
			t := *say
			if !r.alone && t.status == 0 {
				t.text += guard + texts[host]
			}
			w.told[k][host] = &t
			if k == 0 {
				lists[k] += host + "\n"
			} else {
				lists[k] = host + "\n" + lists[k] // in another order
			}
		}
		if r.own {
			samples += "http://" + host + "/own\n"
		}
		for line := range strings.SplitSeq(strings.TrimSpace(r.changes), "\n") {
			for _, profile := range []string{"google", "rfc9309"} {
				change := strings.NewReplacer("{P}", profile, "{H}", host).Replace(line)
				if line != "" && !slices.Contains(changes, host+" "+change) {
					changes = append(changes, host+" "+change)
				}
			}
		}
	}
	slices.Sort(changes)
	return w, lists, samples, changes
}
