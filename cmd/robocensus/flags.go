package main

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/robocensus/robocensus/cmd/internal/suggest"
	"github.com/robocensus/robocensus/configs"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/evaluate"
	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/pipeline/source"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// commonFlags are the flags of the commands that fetch and judge.
type commonFlags struct {
	set *pflag.FlagSet

	config, agents        string
	profiles              []string
	concurrency           int
	perAddress, perDomain int
	rate, addressRate     float64
	timeout               time.Duration
	retries, maxRedirects int
	connectTo, userAgent  string
	resolvers             []string
	perResolver           int
	proxy                 string
	allowPrivate, probe   bool
	caFile                string

	registry      []sink.Agent // nil before it is read
	registryInput sink.Input

	configFile
}

// configFile is what a configuration file says besides the values of flags.
type configFile struct {
	own             map[string]*robots.Profile // profiles of the configuration file
	ownAsWritten    map[string]map[string]any
	labels          robots.Vocabulary // labels, with those of the configuration file
	labelsAsWritten []map[string]any
	namedOnly       []string // names of the registry that no operator sends
	configInput     *sink.Input
	fromFile        map[string]bool // flags that the configuration file set
}

func newFlagSet(name string) *pflag.FlagSet {
	s := pflag.NewFlagSet(name, pflag.ContinueOnError)
	s.SortFlags = false
	return s
}

// outFlag adds --out to a command that reads tables.
func outFlag(c *cobra.Command) *string {
	out := c.Flags().StringP("out", "o", "", "`DIR` of the tables")
	c.MarkFlagDirname("out")
	return out
}

// jsonFlag adds --json. The argument what describes the output.
func jsonFlag(set *pflag.FlagSet, what string) *bool {
	return set.Bool("json", false, "print only JSON to standard output: "+what)
}

// errNoOut is the error of a command that needs --out.
var errNoOut = usagef("--out is missing: give the folder of the tables")

// addMeaning adds the flags of profiles and agents.
func (f *commonFlags) addMeaning() {
	f.set.StringSliceVarP(&f.profiles, "profile", "p", []string{"google"}, "how to read robots.txt: "+strings.Join(robots.ProfileNames(), ", ")+"; own: each agent by the parser that its crawler is documented to use; or a profile of the configuration file. With several, each gives its own verdicts")
	f.set.StringVar(&f.agents, "agents", "", "YAML `FILE` of agents (default a built-in registry)")
	f.set.StringVar(&f.config, "config", "", "YAML `FILE` that sets flags by name and defines profiles; flags on the command line win")
	group(f.set, "Meaning")
}

// addNetwork adds the flags of fetching.
func (f *commonFlags) addNetwork() {
	s := f.set
	s.IntVar(&f.perAddress, "per-address", 4, "concurrent requests to one address")
	s.IntVar(&f.perDomain, "per-domain", 8, "concurrent requests to the hosts of one registered domain")
	s.Float64Var(&f.rate, "rate", 0, "requests per second in total (default no limit)")
	s.Float64Var(&f.addressRate, "address-rate", 0, "requests per second to one address (default no limit)")
	s.DurationVar(&f.timeout, "timeout", 30*time.Second, "time limit for one host, with redirects and retries; waits for politeness do not count")
	s.IntVar(&f.retries, "retries", 2, "attempts after the first on a 5xx or a temporary failure; twice as many on a 503")
	s.IntVar(&f.maxRedirects, "max-redirects", 0, "redirects to follow (default as the profiles say)")
	s.StringVar(&f.connectTo, "connect-to", "", "dial `ADDR` (IP:port) for every host; politeness is then per host and domain")
	s.BoolVar(&f.allowPrivate, "allow-private", false, "dial loopback, private and other special addresses too, also where a redirect of a server of WARC files leads")
	s.StringVar(&f.caFile, "ca-file", "", "PEM `FILE` of certificate authorities to trust instead of the system's")
	s.StringSliceVar(&f.resolvers, "resolver", nil, "`ADDR` of a DNS server (IP or IP:port; default the system's); repeatable: a name fails only if several servers fail for it, so one that is down costs no host")
	s.IntVar(&f.perResolver, "per-resolver", 0, "names asked of each DNS server at once (default no limit)")
	s.StringVar(&f.proxy, "proxy", "", "HTTP proxy, http://[user:password@]host:port. The proxy resolves names: special addresses are refused only if literal, addresses and DNS times are unknown, politeness is per host and domain, and the proxy's own errors over http look like the host's")
	s.BoolVar(&f.probe, "probe-misconfigured", false, "if robots.txt gives a 5xx, request two more pages, to see whether the host answers every missing page with a 5xx")
	s.StringVar(&f.userAgent, "user-agent", "robocensus/1", "user agent to send; include a contact, as in our-census/1 (+https://example.org/census)")
	group(f.set, "Network")
}

// profile finds a profile by name, the user's own first.
func (f *commonFlags) profile(name string) (*robots.Profile, bool) {
	if p, ok := f.own[name]; ok {
		return p, true
	}
	return robots.ProfileNamed(name)
}

// readProfiles returns the profiles that --profile names.
func (f *commonFlags) readProfiles() ([]*robots.Profile, error) {
	known := append(robots.ProfileNames(), robots.Own)
	for name := range f.own {
		known = append(known, name)
	}
	if f.maxRedirects < 0 {
		return nil, usagef("--max-redirects cannot be negative")
	}
	var out []*robots.Profile
	for i, name := range f.profiles {
		p, ok := f.profile(name)
		if slices.Contains(f.profiles[:i], name) {
			return nil, usagef("--profile %s names %q twice", strings.Join(f.profiles, ","), name)
		}
		if !ok {
			return nil, usagef("--profile %q%s: use %s, each once", name, suggest.Remark(name, known), strings.Join(known, ", "))
		}
		out = append(out, f.limited(p))
	}
	if len(out) == 0 {
		return nil, usagef("--profile is empty: use %s", strings.Join(known, ", "))
	}
	return out, nil
}

// limited returns a profile with the limit of --max-redirects.
func (f *commonFlags) limited(p *robots.Profile) *robots.Profile {
	if f.maxRedirects > 0 {
		changed := *p
		changed.MaxRedirects = f.maxRedirects
		p = &changed
	}
	return p
}

// readers returns the profiles of the agents' parsers, by name, and google; none if no
// agent has one and own is not among the profiles.
func (f *commonFlags) readers(profiles []*robots.Profile, agents ...sink.Agent) map[string]*robots.Profile {
	if !slices.ContainsFunc(profiles, func(p *robots.Profile) bool { return p.ByAgent }) &&
		!slices.ContainsFunc(agents, func(a sink.Agent) bool { return a.ReadsAs != nil }) {
		return nil
	}
	out := make(map[string]*robots.Profile)
	for _, a := range append(agents, sink.Agent{}) { // whose parser is google
		name := registry.Reader(&a)
		for _, p := range profiles {
			if p.Name == name {
				out[name] = p
			}
		}
		if out[name] == nil {
			p, _ := f.profile(name) // ParseAgents knows it
			out[name] = f.limited(p)
		}
	}
	return out
}

// forAgent returns the profiles that judge an agent, each once: for own, the one that the
// registry names.
func (f *commonFlags) forAgent(profiles []*robots.Profile, agent sink.Agent) []*robots.Profile {
	c := evaluate.Config{Profiles: profiles, Readers: f.readers(profiles, agent)}
	var out []*robots.Profile
	for _, p := range profiles {
		if p = c.JudgedBy(p, &agent); !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// readAgents reads the registry, once: the file may be a pipe.
func (f *commonFlags) readAgents(ctx context.Context) ([]sink.Agent, sink.Input, error) {
	if f.registry != nil {
		return f.registry, f.registryInput, nil
	}
	text, path := configs.Agents, "built-in agents.yaml"
	if f.agents != "" {
		var err error
		if text, err = readInput(ctx, f.agents); err != nil {
			return nil, sink.Input{}, err
		}
		path = remote.Name(f.agents)
	}
	profiles := slices.Sorted(maps.Keys(f.own))
	agents, named, err := registry.ParseAgents(path, text, profiles...)
	if err != nil {
		return nil, sink.Input{}, err
	}
	f.registry, f.namedOnly = agents, named
	f.registryInput = sink.Input{Role: "agents", Path: path, SHA256: digest(text), Rows: int64(len(agents))}
	return f.registry, f.registryInput, nil
}

// fetchConfig returns the configuration of the fetch client, with the limits of the
// profiles.
func (f *commonFlags) fetchConfig(ctx context.Context, profiles []*robots.Profile) (fetch.Config, error) {
	c := fetch.Config{
		UserAgent: f.userAgent, Timeout: f.timeout, Retries: f.retries, Concurrency: max(f.concurrency, 1),
		PerAddress: f.perAddress, PerDomain: f.perDomain, Rate: f.rate, AddressRate: f.addressRate,
		AllowPrivate: f.allowPrivate, ProbeMisconfigured: f.probe,
		PerResolver: f.perResolver,
	}
	switch {
	case f.perAddress < 1:
		return c, usagef("--per-address must be 1 or more")
	case f.perDomain < 1:
		return c, usagef("--per-domain must be 1 or more")
	case !(f.rate >= 0): // or NaN
		return c, usagef("--rate %v: give requests per second, 0 for no limit", f.rate)
	case !(f.addressRate >= 0):
		return c, usagef("--address-rate %v: give requests per second, 0 for no limit", f.addressRate)
	case f.perResolver < 0 || f.perResolver == 0 && f.set.Changed("per-resolver"):
		return c, usagef("--per-resolver must be 1 or more")
	case f.timeout <= 0:
		return c, usagef("--timeout must be positive")
	case f.retries < 0:
		return c, usagef("--retries cannot be negative")
	}
	challenges, err := registry.ParseChallenges("built-in challenges.yaml", configs.Challenges)
	if err != nil {
		return c, err
	}
	c.Challenges = challenges
	for _, p := range profiles {
		c.MaxBody = max(c.MaxBody, p.SizeLimit)
		c.MaxRedirects = max(c.MaxRedirects, p.MaxRedirects)
	}
	if f.connectTo != "" {
		if c.ConnectTo, err = netip.ParseAddrPort(f.connectTo); err != nil {
			return c, usagef("--connect-to %q: give an IP address and a port, such as 127.0.0.1:8080", f.connectTo)
		}
	}
	if f.proxy != "" {
		if c.Proxy, err = url.Parse(f.proxy); err != nil || c.Proxy.Scheme != "http" || c.Proxy.Hostname() == "" {
			return c, usagef("--proxy: give a URL such as http://127.0.0.1:3128; only HTTP proxies are supported")
		}
		if c.ConnectTo.IsValid() {
			return c, usagef("--proxy and --connect-to exclude each other: give one of them")
		}
	}
	for _, text := range f.resolvers {
		resolver, err := netip.ParseAddrPort(text)
		if addr, e := netip.ParseAddr(text); e == nil {
			resolver, err = netip.AddrPortFrom(addr, 53), nil
		}
		if err != nil {
			return c, usagef("--resolver %q: give an IP address, with or without a port", text)
		}
		if slices.Contains(c.Resolvers, resolver) {
			return c, usagef("--resolver %s is given twice", text)
		}
		c.Resolvers = append(c.Resolvers, resolver)
	}
	if f.caFile != "" {
		text, err := readInput(ctx, f.caFile)
		if err != nil {
			return c, err
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return c, &userfile.Error{Path: remote.Name(f.caFile), Err: errors.New("holds no PEM certificate")}
		}
	}
	if strings.TrimSpace(c.UserAgent) == "" {
		return c, usagef("--user-agent is empty: say who asks, as in our-census/1 (+https://example.org/census)")
	}
	for i := 0; i < len(c.UserAgent); i++ {
		if b := c.UserAgent[i]; b < ' ' || b > '~' {
			return c, usagef("--user-agent: use printable ASCII; byte %d is %#x", i+1, b)
		}
	}
	return c, nil
}

func digest(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// maxInputFile bounds the files that are read whole.
const maxInputFile = 64 << 20

// readInput reads a file or an object by its URL. It stops waiting for the writer of a pipe when ctx ends.
func readInput(ctx context.Context, path string) ([]byte, error) {
	if remote.IsURL(path) {
		text, err := remote.ReadAll(ctx, path, maxInputFile)
		if ctx.Err() != nil {
			return nil, errInterrupted
		}
		if err != nil {
			return nil, source.Unread(path, err)
		}
		return text, nil
	}
	type result struct {
		text []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		file, err := os.Open(path)
		if err != nil {
			done <- result{nil, &userfile.Error{Path: remote.Name(path), Err: errors.Unwrap(err)}}
			return
		}
		defer file.Close()
		text, err := readAll(path, file)
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

func readAll(name string, r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxInputFile+1))
	if err != nil {
		return nil, &userfile.Error{Path: name, Err: errors.Unwrap(err)}
	}
	if len(text) > maxInputFile {
		return nil, &userfile.Error{Path: name, Err: fmt.Errorf("is larger than %d MiB", maxInputFile>>20)}
	}
	return text, nil
}

// isURL reports whether the value of a flag is meant as a URL.
func isURL(value string) bool { return strings.Contains(value, "://") }

// notHere returns the error for a flag whose folder must be on this machine.
func notHere(flag, url string) error {
	return usagef("--%s %s: give a folder on this machine", flag, remote.Name(url))
}
