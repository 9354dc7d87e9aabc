package diff

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/pipeline"
	"github.com/robocensus/robocensus/pipeline/audit/change"
	"github.com/robocensus/robocensus/pipeline/audit/internal/audittest"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/sinktest"
)

// Parts of files: a managed block, blocks of one's own, and a template known by its rules.
const (
	managed = "# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-signal: search=yes, ai-train=no\nAllow: /\n" +
		"\nUser-agent: RoboTestA\nDisallow: /\n# END Cloudflare Managed Content\n"
	managed2 = "# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-signal: search=yes, ai-train=no\nAllow: /\n" +
		"\nUser-agent: RoboTestA\nUser-agent: RoboTestC\nDisallow: /a\n# END Cloudflare Managed Content\n"
	shop      = "User-agent: *\nDisallow: /shop/\nDisallow: /cart/\n"
	ownShut   = "User-agent: RoboTestA\nDisallow: /\n"
	ownPart   = "User-agent: RoboTestA\nDisallow: /part\n"
	ownOpen   = "User-agent: RoboTestA\nDisallow:\n"
	shopKnown = "- {id: shop, kind: cms, agent: '*', disallows: [/shop/, /cart/]}\n"
)

// A change is in the words of what decides now and is new or, if all of that stood in the
// file before, of what decided before and is gone.
func TestWhoseWordsAChangeIs(t *testing.T) {
	for _, c := range []struct {
		clause, before, after string
		want                  string // kind, before, after and template of the row of RoboTestA
	}{
		{"a block closes", shop, shop + managed, "policy_class partial disallow_all cloudflare-managed"},
		{"own words close", shop, shop + ownShut, "policy_class partial disallow_all -"},
		{"a block is gone, and the template's group was there", shop + managed, shop,
			"policy_class disallow_all partial cloudflare-managed"},
		{"a block is gone, and nothing decides", managed, "", "policy_class disallow_all allow_all cloudflare-managed"},
		{"own words are gone, and the template's group was there", shop + ownShut, shop,
			"policy_class disallow_all partial -"},
		{"own words are gone, and nothing decides", ownShut, "", "policy_class disallow_all allow_all -"},
		{"a block is replaced by own words", shop + managed, shop + ownOpen, "policy_class disallow_all allow_all -"},
		{"own words are replaced by a block", shop + ownOpen, shop + managed,
			"policy_class allow_all disallow_all cloudflare-managed"},
		{"own words are edited", shop + ownPart, shop + ownShut, "policy_class partial disallow_all -"},
		{"a block of another version", managed, managed2, "policy_class disallow_all partial cloudflare-managed"},
		{"a block is added to own words that stay", ownPart, ownPart + managed,
			"policy_class partial disallow_all cloudflare-managed"},
		{"a block is gone from beside own words that stay", ownPart + managed, ownPart,
			"policy_class disallow_all partial cloudflare-managed"},
		{"own words are added to a block that stays", managed2, managed2 + ownShut, "policy_class partial disallow_all -"},
		{"own words and a block are added", "", ownPart + managed, "policy_class allow_all disallow_all -"},
		{"rules of the template's group, edited by hand", shop, "User-agent: *\nDisallow: /shop/\n", "rules - opens -"},
		{"the group stands elsewhere in the file", managed + ownShut, shop + ownShut +
			"User-agent: RoboTestB\nDisallow: /b\n", ""},
	} {
		dir := t.TempDir()
		statingRun{text: c.before + " ", templates: shopKnown}.run(t, dir, "a")
		statingRun{text: c.after + "\n#", templates: shopKnown}.run(t, dir, "b")
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		got := ""
		for _, row := range changesOf(t, dir, "b", "a") {
			if schema.OrZero(row.Agent) == "RoboTestA" && (row.Kind == "policy_class" || row.Kind == "rules") {
				got += row.Kind
				for _, cell := range []*string{row.Before, row.After, row.Template} {
					if cell == nil {
						got += " -"
					} else {
						got += " " + *cell
					}
				}
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.clause, diff)
		}
	}
}

// The tables show the groups in the first profile's reading. Under another, a token may find
// groups that do not name it, or follow only one of its groups.
func TestWordsUnderOtherProfiles(t *testing.T) {
	const agents = "- {name: RoboTestA, category: search}\n"
	block := func(lines string) string {
		return "# BEGIN Cloudflare Managed content\n" + lines + "# END Cloudflare Managed Content\n"
	}
	for _, c := range []struct{ clause, profile, before, after, want string }{
		{"a block names part of the token, and own words for * change", "protego", shop, "User-agent: *\nDisallow: /x\n" +
			block("User-agent: RoboTest\nDisallow: /\n"), "policy_class cloudflare-managed"},
		{"only the block, the first group, decides", "urllib-2025", block(ownPart) + ownPart, block(ownShut) + ownOpen,
			"policy_class cloudflare-managed"},
		{"a line of a block that names part of the token", "protego",
			"User-agent: *\nContent-Signal: ai-train=no\nDisallow: /x\n",
			shop + block("User-agent: RoboTest\nContent-Signal: ai-train=yes\nDisallow: /x\n"), "preference cloudflare-managed"},
	} {
		dir := t.TempDir()
		statingRun{text: c.before, profile: c.profile, agents: agents}.run(t, dir, "a")
		statingRun{text: c.after, profile: c.profile, agents: agents}.run(t, dir, "b")
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		got := ""
		for _, row := range changesOf(t, dir, "b", "a") {
			if schema.OrZero(row.Agent) == "RoboTestA" && schema.OrZero(row.Profile) == c.profile &&
				(row.Kind == "policy_class" || row.Kind == "preference") {
				got += row.Kind + " " + schema.OrZero(row.Template)
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.clause, got, c.want)
		}
	}
}

// Where the tables do not show what is new or gone, the words are those of all that
// decides now; where something only opened or ended, and no template decides now, of all
// that decided before.
func TestWordsWithoutGroups(t *testing.T) {
	for _, c := range []struct{ kind, before, after, was, is, want string }{
		{"policy_class", "allow_all", "disallow_all", "", "t", "t"},
		{"policy_class", "allow_all", "disallow_all", "t", "", ""},
		{"policy_class", "disallow_all", "partial", "t", "", "t"},
		{"policy_class", "disallow_all", "partial", "t", "u", "u"},
		{"policy_class", "disallow_all", "allow_all", "", "", ""},
		{"rules", "", "opens", "t", "", "t"},
		{"rules", "", "both", "t", "", ""},
		{"rules", "", "closes", "t", "t", "t"},
		{"preference", "disallow", "", "t", "", "t"},
		{"preference", "disallow", "allow", "t", "", ""},
		{"preference", "", "allow", "", "t", "t"},
	} {
		text := schema.NonZero[string]
		row := &schema.Change{Kind: c.kind, Agent: text("A"), Category: text("x"), Profile: text("p"),
			Before: text(c.before), After: text(c.after), TemplateBefore: text(c.was), TemplateAfter: text(c.is)}
		if got := schema.OrZero(decidesIn(row)); got != c.want {
			t.Errorf("%v: %q", c, got)
		}
	}
}

// What is stated about a use is in the words of the lines that state it.
func TestWhoseWordsAStatementIs(t *testing.T) {
	const own = "User-agent: *\nContent-Signal: ai-train=no\nDisallow: /x\n"
	const ownA = "User-agent: RoboTestA\nContent-Signal: ai-train=yes\nDisallow: /x\n"
	const block = "# BEGIN Cloudflare Managed content\nUser-agent: *\nContent-signal: search=yes, ai-train=no\n" +
		"Allow: /\n# END Cloudflare Managed Content\n"
	for _, c := range []struct{ clause, before, after, want string }{
		{"a block states it", shop, shop + block, "- disallow cloudflare-managed"},
		{"own words state it", shop, own, "- disallow -"},
		{"a block that stated it is gone", shop + block, shop, "disallow - cloudflare-managed"},
		{"own words that stated it are gone", own, shop, "disallow - -"},
		{"own words for the agent are gone, and the block's line was there", block + ownA, block, "allow disallow -"},
		{"a token's rules for * decide it, since a block lets the agent in", shop, shop + managed2,
			"- partial cloudflare-managed"},
		{"they no longer do, since that block is gone", shop + managed2, shop, "partial - cloudflare-managed"},
	} {
		dir := t.TempDir()
		statingRun{text: c.before, templates: shopKnown}.run(t, dir, "a")
		statingRun{text: c.after, templates: shopKnown}.run(t, dir, "b")
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, dir), Before: "a", After: "b"})
		sinktest.Must(t, err)
		got := ""
		for _, row := range changesOf(t, dir, "b", "a") {
			if schema.OrZero(row.Agent) == "RoboTestA" && row.Kind == "preference" && *row.Use == "ai-train" {
				for i, cell := range []*string{row.Before, row.After, row.Template} {
					if i > 0 {
						got += " "
					}
					if cell == nil {
						got += "-"
					} else {
						got += *cell
					}
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.clause, got, c.want)
		}
	}
}

// A block and a group of one's own may change the same, but hosts that do are of two ways.
func TestWordsTellWaysApart(t *testing.T) {
	var w Ways
	for _, c := range []struct{ host, template string }{{"a.example", "t"}, {"b.example", ""}, {"c.example", "t"},
		{"d.example", "u"}} {
		w.Add(&schema.Change{Host: c.host, Origin: "https://" + c.host, Kind: "policy_class", Severity: change.Critical,
			Agent: new("GPTBot"), Before: new("partial"), After: new("disallow_all"), Template: schema.NonZero(c.template)})
		w.EndOfHost()
	}
	got := w.Commonest()
	if len(got) != 1 || got[0].Host != "a.example" || got[0].Hosts != 2 || schema.OrZero(got[0].Template) != "t" {
		t.Errorf("%+v", got)
	}
}

// Where a whole file goes, its template says nothing of it: a host that no longer has a file
// has not changed anything in the words of one. Where it comes, it does.
func TestAFileThatGoesIsInNobodysWords(t *testing.T) {
	has := true
	c := audittest.Config(t, func(w http.ResponseWriter, _ *http.Request) {
		if !has {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(managed, "RoboTestA", "GPTBot"))
	}, "a.example\n")
	templates, err := registry.ParseTemplates("templates", configs.Templates)
	sinktest.Must(t, err)
	c.Evaluate.Templates = template.New(templates)
	for i, run := range []string{"a", "b", "c"} {
		has = i != 1
		c.Run = run
		_, err := pipeline.Run(t.Context(), c, new(pipeline.Progress))
		sinktest.Must(t, err)
	}
	for _, row := range []struct{ before, after, want string }{{"a", "b", ""}, {"b", "c", "cloudflare-managed"}} {
		_, err := Runs(t.Context(), Config{In: sinktest.Open(t, c.Dir), Before: row.before, After: row.after})
		sinktest.Must(t, err)
		found := false
		for _, r := range changesOf(t, c.Dir, row.after, row.before) {
			if r.Kind == "policy_class" && *r.Agent == "GPTBot" {
				if found = true; schema.OrZero(r.Template) != row.want {
					t.Errorf("%s to %s: %s → %s in the words of %q, want %q", row.before, row.after, *r.Before, *r.After,
						schema.OrZero(r.Template), row.want)
				}
			}
		}
		if !found {
			t.Errorf("%s to %s: no policy of GPTBot changed", row.before, row.after)
		}
	}
}
