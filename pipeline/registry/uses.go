package registry

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// ParseUses parses a list of labels in YAML, and adds it to a vocabulary.
func ParseUses(path string, text []byte, to usage.Vocabulary) (usage.Vocabulary, error) {
	nodes, err := userfile.List(path, text, "label")
	if err != nil {
		return nil, err
	}
	return ReadUses(path, nodes, to)
}

// ReadUses returns a vocabulary with the labels of a list added. An entry for a label
// that it has replaces it; a label that the list has twice is an error with its line.
func ReadUses(path string, nodes []*yaml.Node, to usage.Vocabulary) (usage.Vocabulary, error) {
	out := make(usage.Vocabulary)
	maps.Copy(out, to)
	lines := make(map[usage.Label]int)
	type entry struct {
		Mechanism string `yaml:"mechanism"`
		Label     string `yaml:"label"`
		Use       string `yaml:"use"`
		Document  string `yaml:"document"`
	}
	err := userfile.Each(path, nodes, func(entry *entry, line int) error {
		label := usage.Label{Name: entry.Label}
		switch entry.Mechanism {
		case usage.ContentUsage.String():
			label.Mechanism = usage.ContentUsage
		case usage.ContentSignal.String():
			label.Mechanism = usage.ContentSignal
		case usage.PageHeader.String():
			label.Mechanism = usage.PageHeader
		default:
			return fmt.Errorf("no mechanism %q with labels; use %s, %s or %s", entry.Mechanism, usage.ContentUsage,
				usage.ContentSignal, usage.PageHeader)
		}
		use := usage.NoUse
		switch {
		case entry.Label == "":
			return fmt.Errorf("an entry needs a label")
		case entry.Label != strings.ToLower(entry.Label):
			return fmt.Errorf("label %q: write it in lower case, as files are compared", entry.Label)
		case lines[label] > 0:
			return fmt.Errorf("label %q of %s is already in line %d", entry.Label, entry.Mechanism, lines[label])
		case entry.Use != "":
			if use = UseNamed(entry.Use); use == usage.NoUse {
				return fmt.Errorf("label %q: no use %q; use one of %s", entry.Label, entry.Use, strings.Join(UseNames, ", "))
			}
		}
		lines[label] = line
		out[label] = use
		return nil
	})
	return out, err
}

// UseNames are the names of the uses.
var UseNames = func() (names []string) {
	for use := range usage.Use(usage.NumUses) {
		names = append(names, use.String())
	}
	return names
}()

// StanceColumns are the columns of the table policies with the stances on the uses.
var StanceColumns = map[string]string{usage.AITrain.String(): "ai_train", usage.AIInput.String(): "ai_input",
	usage.Search.String(): "search"}

// UseNamed returns the use of a name, NoUse if there is none.
func UseNamed(name string) usage.Use {
	if i := slices.Index(UseNames, name); i >= 0 {
		return usage.Use(i)
	}
	return usage.NoUse
}

// Kinds of agents.
const (
	KindCrawler = "crawler"
	KindToken   = "token" // crawls nothing: its group says what other agents may do

	KindNamedOnly = "named_only" // no agent: a name that files carry and no operator sends
)

// usesOf are the uses of a category's agents, unless the registry says otherwise.
var usesOf = map[string][]string{
	"search": {"search"}, "ai-training": {"ai-train"}, "ai-search": {"ai-input"}, "ai-assistant": {"ai-input"},
	"ai-data": {"ai-input"},
}

// PolicyTokens returns a function that returns the policy tokens of an agent, in the order
// of the registry.
func PolicyTokens(agents []schema.Agent) func(a *schema.Agent) []schema.Agent {
	places := make(map[string]int)
	for i := range agents {
		places[agents[i].Name] = i
	}
	return func(a *schema.Agent) (tokens []schema.Agent) {
		var found []int
		for _, name := range a.PolicyTokens {
			if i, ok := places[name]; ok {
				found = append(found, i)
			}
		}
		slices.Sort(found)
		for _, i := range slices.Compact(found) {
			tokens = append(tokens, agents[i])
		}
		return tokens
	}
}

// TokenPolicy returns the policy of a policy token.
func TokenPolicy(a *schema.Agent, p *robots.Policy) robots.TokenPolicy {
	t := robots.TokenPolicy{Policy: p, Star: slices.Contains(a.FallsBackTo, "*")}
	for _, name := range a.Uses {
		t.Uses = append(t.Uses, UseNamed(name))
	}
	return t
}

// boundUses returns the uses of the key binds: those whose agents a policy token binds.
func boundUses(path string, node *yaml.Node) (uses []string, err error) {
	if node.IsZero() {
		return nil, nil
	}
	if err := userfile.CheckKeys(path, node, "uses"); err != nil {
		return nil, err
	}
	var binds struct{ Uses []string }
	if err := userfile.Decode(path, node, &binds); err != nil {
		return nil, err
	}
	if len(binds.Uses) == 0 {
		return nil, errors.New("binds: names no use; write `binds: {uses: [ai-train]}`")
	}
	return binds.Uses, nil
}

// mostBinding bounds the tokens that bind by use: each may stand in every agent's list.
const mostBinding = 100

// bind adds the tokens that bind by use to the policy tokens of the agents that they bind.
func bind(agents []schema.Agent, fail func(i int, format string, args ...any) error) error {
	binding := 0
	for k, token := range agents {
		if token.Binds == nil {
			continue
		}
		if binding++; binding > mostBinding {
			return fail(k, "agent %q: more than %d entries bind by use", token.Name, mostBinding)
		}
		for i := range agents {
			a := &agents[i]
			if a.Kind != KindToken && !slices.Contains(a.PolicyTokens, token.Name) &&
				slices.ContainsFunc(token.Binds, func(use string) bool { return slices.Contains(a.Uses, use) }) {
				a.PolicyTokens = append(slices.Clip(a.PolicyTokens), token.Name)
			}
		}
	}
	return nil
}

// checkKinds checks what the entries of a registry say about kinds, uses and tokens, and
// sets what they leave out. fail makes an error of an entry.
func checkKinds(agents []schema.Agent, fail func(i int, format string, args ...any) error) error {
	kinds := make(map[string]string)
	for i := range agents {
		a := &agents[i]
		if a.Kind == "" {
			a.Kind = KindCrawler
		}
		if a.Uses == nil {
			a.Uses = usesOf[a.Category]
		}
		kinds[a.Name] = a.Kind
		switch {
		case a.Kind != KindCrawler && a.Kind != KindToken:
			return fail(i, "agent %q: no kind %q; use %s, %s or %s", a.Name, a.Kind, KindCrawler, KindToken, KindNamedOnly)
		case a.Kind == KindToken && len(a.PolicyTokens) > 0:
			return fail(i, "agent %q: a policy token has no policy_tokens; they are for crawlers", a.Name)
		case a.Kind != KindToken && a.Binds != nil:
			return fail(i, "agent %q: binds: only an entry of kind %s binds other agents", a.Name, KindToken)
		case a.Kind != KindToken && slices.Contains(a.FallsBackTo, "*"):
			return fail(i, "agent %q: falls_back_to: only a policy token may name *; crawlers follow its group anyway", a.Name)
		}
		for _, name := range slices.Concat(a.Uses, a.Binds) {
			if UseNamed(name) == usage.NoUse {
				return fail(i, "agent %q: no use %q; use one of %s", a.Name, name, strings.Join(UseNames, ", "))
			}
		}
	}
	for i, a := range agents {
		for _, name := range a.PolicyTokens {
			if kinds[name] != KindToken {
				return fail(i, "agent %q: policy_tokens: no agent %q of kind %s in this registry; add it", a.Name, name, KindToken)
			}
		}
	}
	return bind(agents, fail)
}
