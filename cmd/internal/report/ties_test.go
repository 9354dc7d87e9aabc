package report

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// A title that says who is first, most or least names all that tie, or counts them.
func TestTitlesOfTies(t *testing.T) {
	ranked := func(c schema.Count, stratum string) schema.Count {
		c.Stratum = stratum
		return c
	}
	closed := func(metric, agent string, n int64) schema.Count {
		return agentCount(metric, agent, "ai-training", "disallow_all", n)
	}
	pair := func(a, b string, n int64) schema.Count {
		return agentCount("policy_pair", a, "ai-training", b, n)
	}
	// of hosts with rank 1 to 1,000, and without; of ten more the policy is not known
	open := func(agent string, ranks, unranked int64) []schema.Count {
		return []schema.Count{agentCount("policy", agent, "ai-training", "allow_all", ranks),
			agentCount("policy", agent, "ai-training", "unknown", 10),
			ranked(agentCount("policy", agent, "ai-training", "partial", unranked), "unranked")}
	}
	versus := func(agent string, different, equal int64) []schema.Count {
		of := func(key string, n int64) schema.Count {
			c := agentCount("versus_first", agent, "ai-training", key, n)
			c.Profile = new("rfc9309")
			return c
		}
		return []schema.Count{of("different", different), of("equal", equal)}
	}
	base := []schema.Count{ranked(count1("targets", "", 40), "1-1000"), count1("targets", "", 60),
		profiled("outcome", "conditional_allow", "google", 100), profiled("reason", "success", "google", 100)}
	files := []schema.Count{ranked(count1("body_bytes", "50", 40), "1-1000"), count1("body_bytes", "50", 60)}
	for _, row := range []struct {
		name   string
		counts []schema.Count
		want   string
	}{
		{"ranks", append(open("B", 30, 60), closed("policy", "B", 10), closed("policy", "A", 8)),
			"B is shut out by 25.0% of hosts of rank 1 to 1,000, and by 0% of those without a rank"},
		{"ranks tie", append(open("A", 30, 60), closed("policy", "B", 10), closed("policy", "A", 10)),
			"A and B are shut out most often; A by 25.0% of hosts of rank 1 to 1,000, and by 0% of those without a rank"},
		{"together", []schema.Count{closed("policy", "A", 20), closed("policy", "B", 18), closed("policy", "C", 16),
			closed("policy_explicit", "A", 20), closed("policy_explicit", "B", 18), closed("policy_explicit", "C", 16),
			pair("A", "B", 15), pair("A", "C", 14)},
			"Of the 20 hosts that shut out A by name, 75.0% shut out B too"},
		{"together tie", []schema.Count{closed("policy", "A", 20), closed("policy", "B", 18), closed("policy", "C", 16),
			closed("policy_explicit", "A", 20), closed("policy_explicit", "B", 18), closed("policy_explicit", "C", 16),
			pair("A", "B", 15), pair("A", "C", 15)},
			"Of the 20 hosts that shut out A by name, 75.0% shut out each of B and C too"},
		{"network", []schema.Count{count1("tld", "com", 50), count1("tld", "de", 20), count1("tld_failed", "com", 5),
			count1("tld_failed", "de", 4)},
			"By top-level domain, failures are commonest for .de (20.0% of 20 hosts)"},
		{"network tie", []schema.Count{count1("tld", "com", 50), count1("tld", "de", 20), count1("tld_failed", "com", 5),
			count1("tld_failed", "de", 2), count1("tld_slow", "de", 10)},
			"By top-level domain, failures are commonest for .com and .de (10.0% each), slow answers for " +
				".de (50.0% of 20 hosts)"},
		{"slow alone", []schema.Count{count1("tld", "com", 50), count1("tld", "de", 20), count1("tld_slow", "de", 10)},
			"By top-level domain, slow answers are commonest for .de (50.0% of 20 hosts)"},
		{"network of many", []schema.Count{count1("tld", "a", 10), count1("tld", "b", 10), count1("tld", "c", 10),
			count1("tld", "d", 10), count1("tld_failed", "a", 1), count1("tld_failed", "b", 1), count1("tld_failed", "c", 1),
			count1("tld_failed", "d", 1)},
			"By top-level domain, failures are commonest for 4 of them (10.0% each)"},
		{"refusals", []schema.Count{profiled("refusal", "any", "google", 20), profiled("refusal", "crawler", "google", 20),
			profiled("refusal", "terms", "google", 4)},
			"20.0% of 100 hosts refuse AI training in robots.txt, most often by shutting out a crawler (20.0% of hosts); 4 " +
				"more name a licence, whose terms permit or refuse it"},
		{"refusals tie", []schema.Count{profiled("refusal", "any", "google", 20), profiled("refusal", "crawler", "google",
			20), profiled("refusal", "token", "google", 20)},
			"20.0% of 100 hosts refuse AI training in robots.txt, most often by shutting out a crawler and by shutting out a " +
				"policy token (20.0% of hosts)"},
		{"bands of a template", append([]schema.Count{ranked(count1("template", "t", 10), "1-1000"),
			count1("template", "t", 30)}, files...),
			"t is in 50.0% of the files of hosts without a rank, and in 25.0% of those of rank 1 to 1,000"},
		{"bands of a template tie", append([]schema.Count{ranked(count1("template", "t", 10), "1-1000"),
			count1("template", "t", 15)}, files...), "t is in as many of the files of each band of ranks: 25.0%"},
		{"profiles", append(versus("A", 30, 70), versus("B", 20, 80)...),
			"The profiles differ most for A: rfc9309 allows or forbids some path that google does not at 30.0% of 100 hosts"},
		{"profiles tie", append(versus("A", 30, 70), versus("B", 30, 70)...), "The profiles differ most for 2 agents, such " +
			"as A: rfc9309 allows or forbids some path that google does not at 30.0% of 100 hosts"},
		{"identities", []schema.Count{profiled("answer_let_in", "a refused", "google", 3), profiled("answer_let_in",
			"a served", "google", 7), profiled("answer_let_in", "b refused", "google", 30), profiled("answer_let_in",
			"b served", "google", 70)},
			"a and b are turned away from robots.txt most, each by 30.0% of hosts that let it in on paper"},
		{"bands of identities tie", []schema.Count{profiled("answer_let_in", "a refused", "google", 3),
			profiled("answer_let_in", "a served", "google", 7),
			ranked(profiled("answer_let_in", "a refused", "google", 6), "unranked"),
			ranked(profiled("answer_let_in", "a served", "google", 14), "unranked")},
			"rank 1 to 1,000 and unranked: 30.0% of answers each turn an identity away from robots.txt"},
		{"bands of identities", []schema.Count{profiled("answer_let_in", "a refused", "google", 3), profiled("answer_let_in",
			"a served", "google", 7),
			ranked(profiled("answer_let_in", "a served", "google", 20), "unranked"),
			ranked(profiled("answer_let_in", "a served", "google", 20), "1001-10000")},
			"rank 1 to 1,000: 30.0% of answers turn an identity away from robots.txt; rank 1,001 to 10,000 " +
				"and unranked: 0% each"},
		{"served otherwise", []schema.Count{profiled("answer_policy", "a other_bytes stricter", "google", 2),
			profiled("answer_policy", "a same_bytes equal", "google", 18), profiled("answer_policy", "b other_bytes looser",
				"google", 1), profiled("answer_policy", "b same_bytes equal", "google", 9)},
			"10.0% of the hosts that serve both a file serve each of a and b a file of another meaning"},
		{"walls tie", []schema.Count{profiled("answer_challenge", "a cloudflare", "google", 20), profiled("answer_challenge",
			"b cloudflare", "google", 20), profiled("answer_challenge", "b imperva", "google", 2)},
			"The commonest walls are those for a and b (Cloudflare), on 20.0% of hosts each"},
		{"walls of several vendors tie", []schema.Count{profiled("answer_challenge", "a cloudflare", "google", 20),
			profiled("answer_challenge", "b imperva", "google", 20)},
			"The commonest walls are those for a: Cloudflare and b: Imperva, on 20.0% of hosts each"},
		{"walls", []schema.Count{profiled("answer_challenge", "a cloudflare", "google", 20), profiled("answer_challenge",
			"b cloudflare", "google", 10)}, "The commonest wall is that for a: Cloudflare, on 20.0% of hosts"},
	} {
		t.Run(row.name, func(t *testing.T) {
			dir := t.TempDir()
			p := plan("r")
			p.Profiles = []string{"google", "rfc9309"}
			writeRun(t, dir, p, 1, append(row.counts, base...), nil)
			if out := text1(t, drawn(t, dir, "r", "")); !strings.Contains(out, row.want+"\n") {
				t.Errorf("the page does not say %q:\n%.1500s", row.want, out)
			}
		})
	}
}

// Examples of what a file means to a crawler have words for classes.
func TestExamplesOfParity(t *testing.T) {
	for text, want := range map[string]string{
		"Wget, google: partial; wget: allow_all": "Wget: partly closed as Google's parser reads it, open as wget does",
		"Wget, google: partial; wget: partial": "Wget: partly closed as Google's parser reads it, and as wget " +
			"does, on other paths",
		"something else": "something else",
	} {
		if got := parityText(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
