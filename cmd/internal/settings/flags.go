// Package settings has the settings of the commands that fetch and judge.
//
//   - flags.go: their flags, and what these mean
//   - config.go: the configuration file, which sets flags and defines profiles
//   - agent_name.go: the agent that a name or a User-Agent header stands for
//   - unplanned.go: the flags of run that are no settings, and the commands that take no such flag
package settings

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/flags"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/fetch/client"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/journal"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// Shared are the flags that the commands share which fetch and judge.
type Shared struct {
	Set *pflag.FlagSet

	ConfigFile, Agents string // paths
	Profiles           []string
	Fetch              client.Config // what flags say; FetchConfig completes it
	maxRedirects       int
	ConnectTo, Proxy   string
	resolvers          []string
	caFile             string

	registry      []schema.Agent // nil before it is read
	registryInput journal.Input

	configured
}

// configured is what a configuration file says besides the values of flags.
type configured struct {
	Own             map[string]*robots.Profile // profiles of the configuration file
	OwnAsWritten    map[string]map[string]any
	Labels          usage.Vocabulary // labels, with those of the configuration file
	LabelsAsWritten []map[string]any
	NamedOnly       []string // names of the registry that no operator sends
	ConfigInput     *journal.Input
	FromFile        map[string]int64 // flags that the configuration file set, with their lines
}

// AddMeaning adds the flags of profiles and agents.
func (f *Shared) AddMeaning() {
	f.Set.StringSliceVarP(&f.Profiles, "profile", "p", []string{"google"}, "how to read robots.txt: "+strings.Join(
		robots.ProfileNames(), ", ")+
		"; as a program, which decides by the answer too: "+strings.Join(robots.ProgramNames(), ", ")+
		"; own: each agent by the parser or program that its crawler is documented to use; or a profile of the "+
		"configuration file. With several, each gives its own verdicts")
	f.Set.StringVar(&f.Agents, "agents", "", "YAML `FILE` of agents (default a built-in registry)")
	f.Set.StringVar(&f.ConfigFile, "config", "",
		"YAML `FILE` that sets flags by name and defines profiles; flags on the command line win")
	cli.Group(f.Set, "Meaning")
}

// AddNetwork adds the flags of fetching.
func (f *Shared) AddNetwork() {
	s := f.Set
	s.IntVar(&f.Fetch.PerAddress, "per-address", 4, "concurrent requests to one address")
	s.IntVar(&f.Fetch.PerDomain, "per-domain", 8, "concurrent requests to the hosts of one registered domain")
	s.Float64Var(&f.Fetch.Rate, "rate", 0, "requests per second in total (default no limit)")
	s.Float64Var(&f.Fetch.AddressRate, "address-rate", 0, "requests per second to one address (default no limit)")
	s.DurationVar(&f.Fetch.Timeout, "timeout", 30*time.Second,
		"time limit for one host, with redirects and retries; waits for politeness do not count")
	s.IntVar(&f.Fetch.Retries, "retries", 2,
		"attempts after the first on a 5xx or a temporary failure; twice as many on a 503")
	s.IntVar(&f.maxRedirects, "max-redirects", 0, "redirects to follow (default as the profiles say)")
	s.StringVar(&f.ConnectTo, "connect-to", "",
		"dial `ADDR` (IP:port) for every host; politeness is then per host and domain")
	s.BoolVar(&f.Fetch.AllowPrivate, "allow-private", false,
		"dial loopback, private and other special addresses too, also where a redirect of a server of WARC files, a list "+
			"or an index of them leads")
	s.StringVar(&f.caFile, "ca-file", "", "PEM `FILE` of certificate authorities to trust instead of the system's")
	s.StringSliceVar(&f.resolvers, "resolver", nil,
		"`ADDR` of a DNS server (IP or IP:port; default the system's); repeatable: a name fails only if several servers "+
			"fail for it, so one that is down costs no host")
	s.IntVar(&f.Fetch.PerResolver, "per-resolver", 0, "names asked of each DNS server at once (default no limit)")
	s.StringVar(&f.Proxy, "proxy", "",
		"HTTP proxy, http://[user:password@]host:port. The proxy resolves names: special addresses are refused only if "+
			"literal, addresses and DNS times are unknown, politeness is per host and domain, and the proxy's own errors "+
			"over http look like the host's")
	s.BoolVar(&f.Fetch.ProbeMisconfigured, "probe-misconfigured", false,
		"if robots.txt gives a 5xx, request two more pages, to see whether the host answers every missing page with a 5xx; "+
			"after a 429 the front page; none of a host that asks to be left alone for more than 10 seconds")
	s.StringVar(&f.Fetch.UserAgent, "user-agent", "robocensus/1",
		"user agent to send; include a contact, as in our-census/1 (+https://example.org/census)")
	cli.Group(f.Set, "Network")
}

// Profile finds a profile by name, the user's own first.
func (f *Shared) Profile(name string) (*robots.Profile, bool) {
	if p, ok := f.Own[name]; ok {
		return p, true
	}
	return robots.ProfileNamed(name)
}

// ReadProfiles returns the profiles that --profile names.
func (f *Shared) ReadProfiles() ([]*robots.Profile, error) {
	known := slices.Concat(robots.ProfileNames(), robots.ProgramNames(), []string{robots.Own})
	for name := range f.Own {
		known = append(known, name)
	}
	if f.maxRedirects < 0 {
		return nil, cli.Usagef("--max-redirects cannot be negative")
	}
	var out []*robots.Profile
	for i, name := range f.Profiles {
		p, ok := f.Profile(name)
		if slices.Contains(f.Profiles[:i], name) {
			return nil, cli.Usagef("--profile %s names %q twice", strings.Join(f.Profiles, ","), name)
		}
		if !ok {
			return nil, cli.Usagef("--profile %q%s: use %s, each once", name, flags.Suggest(name, known),
				strings.Join(known, ", "))
		}
		out = append(out, f.limited(p))
	}
	if len(out) == 0 {
		return nil, cli.Usagef("--profile is empty: use %s", strings.Join(known, ", "))
	}
	return out, nil
}

// limited returns a profile with the limit of --max-redirects.
func (f *Shared) limited(p *robots.Profile) *robots.Profile {
	if f.maxRedirects > 0 {
		changed := *p
		changed.MaxRedirects = f.maxRedirects
		p = &changed
	}
	return p
}

// FetchConfig returns the configuration of the fetch client, with the limits of the
// profiles.
func (f *Shared) FetchConfig(ctx context.Context, profiles []*robots.Profile) (client.Config, error) {
	c := f.Fetch
	c.Concurrency = max(c.Concurrency, 1)
	switch {
	case c.PerAddress < 1:
		return c, cli.Usagef("--per-address must be 1 or more")
	case c.PerDomain < 1:
		return c, cli.Usagef("--per-domain must be 1 or more")
	case !(c.Rate >= 0): // or NaN
		return c, cli.Usagef("--rate %v: give requests per second, 0 for no limit", c.Rate)
	case !(c.AddressRate >= 0):
		return c, cli.Usagef("--address-rate %v: give requests per second, 0 for no limit", c.AddressRate)
	case c.PerResolver < 0 || c.PerResolver == 0 && f.Set.Changed("per-resolver"):
		return c, cli.Usagef("--per-resolver must be 1 or more")
	case c.Timeout <= 0:
		return c, cli.Usagef("--timeout must be positive")
	case c.Retries < 0:
		return c, cli.Usagef("--retries cannot be negative")
	}
	challenges, err := registry.ParseChallenges("built-in challenges.yaml", configs.Challenges)
	if err != nil {
		return c, err
	}
	c.Challenges = challenges
	if c.CDNs, err = registry.ParseCDNs("built-in cdns.yaml", configs.CDNs); err != nil {
		return c, err
	}
	for _, p := range profiles {
		c.MaxBody = max(c.MaxBody, p.SizeLimit)
		c.MaxRedirects = max(c.MaxRedirects, p.MaxRedirects)
		c.ErrorBodies = c.ErrorBodies || p.ReadsPages()
		if !f.Set.Changed("retries") {
			c.Retries = max(c.Retries, p.Tries-1)
		}
	}
	if f.ConnectTo != "" {
		if c.ConnectTo, err = netip.ParseAddrPort(f.ConnectTo); err != nil {
			return c, cli.Usagef("--connect-to %q: give an IP address and a port, such as 127.0.0.1:8080",
				fetch.WithoutUser(f.ConnectTo))
		}
	}
	if f.Proxy != "" {
		if c.Proxy, err = url.Parse(f.Proxy); err != nil || c.Proxy.Scheme != "http" || c.Proxy.Hostname() == "" {
			return c, cli.Usagef("--proxy: give a URL such as http://127.0.0.1:3128; only HTTP proxies are supported")
		}
		if c.ConnectTo.IsValid() {
			return c, cli.Usagef("--proxy and --connect-to exclude each other: give one of them")
		}
	}
	for _, text := range f.resolvers {
		resolver, err := netip.ParseAddrPort(text)
		if addr, e := netip.ParseAddr(text); e == nil {
			resolver, err = netip.AddrPortFrom(addr, 53), nil
		}
		if err != nil {
			return c, cli.Usagef("--resolver %q: give an IP address, with or without a port", fetch.WithoutUser(text))
		}
		if slices.Contains(c.Resolvers, resolver) {
			return c, cli.Usagef("--resolver %s is given twice", text)
		}
		c.Resolvers = append(c.Resolvers, resolver)
	}
	if f.caFile != "" {
		text, err := cli.ReadInput(ctx, f.caFile)
		if err != nil {
			return c, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return c, &userfile.Error{Path: remote.Name(f.caFile), Err: errors.New("holds no PEM certificate")}
		}
	}
	if strings.TrimSpace(c.UserAgent) == "" {
		return c, cli.Usagef("--user-agent is empty: say who asks, as in our-census/1 (+https://example.org/census)")
	}
	for i := 0; i < len(c.UserAgent); i++ {
		if b := c.UserAgent[i]; b < ' ' || b > '~' {
			return c, cli.Usagef("--user-agent: use printable ASCII; byte %d is %#x", i+1, b)
		}
	}
	return c, nil
}

// AddTo adds the flags to a command, with the completion of those of AddMeaning.
func (f *Shared) AddTo(c *cobra.Command) {
	c.Flags().AddFlagSet(f.Set)
	cli.CompleteList(c, "profile", slices.Concat(robots.ProfileNames(), robots.ProgramNames()))
	for _, name := range []string{"agents", "config"} {
		c.MarkFlagFilename(name, "yaml", "yml")
	}
}

// ReadRobots reads a robots.txt file; - is standard input. A file in another format is none,
// but for UTF-16, in which editors write one that crawlers read as a file without rules.
func (f *Shared) ReadRobots(ctx context.Context, path string, stdin io.Reader) (body []byte, err error) {
	name := remote.Name(path)
	if path == "-" {
		cli.EndBySignal(ctx)
		name = "standard input"
		body, err = cli.ReadAll(name, stdin)
	} else {
		body, err = cli.ReadInput(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	head := body[:min(len(body), userfile.FormatHead)]
	if userfile.IsWide(head) {
		return body, nil
	}
	if err = userfile.Format(head); err == nil && userfile.IsMarkup(head) {
		err = errors.New("is a web page or XML, and not a robots.txt; to judge the URLs of a sitemap, give a robots.txt " +
			"or a host, an agent, and --urls")
	}
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: err}
	}
	return body, nil
}
