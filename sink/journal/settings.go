package journal

import "slices"

// A Setting is a setting of a run that its plan records, under the name of its flag.
// What else follows from a setting, in any package, follows from its row in [Settings].
type Setting struct {
	Name string
	// Adjustable reports whether the tables do not depend on it, so that a resumed run may
	// change it. Plan.Adjustable has it then, and otherwise Plan.Configuration.
	Adjustable bool
	// Published is what a data set says of the value.
	Published Publicity
	// Local reports whether it depends on the machine or is secret, so that a process of
	// a planned run does not take it from the plan.
	Local bool
	// Asks reports whether it says how hosts are asked: it does not apply to stored
	// answers.
	Asks bool
	// Not names the commands that make runs and do not take it: demo brings its own hosts
	// and asks this machine only, plan makes no shard.
	Not []string
	// Effect is what follows if two runs differ in it, and Other the words for that.
	Effect Effect
	Other  string
}

// Publicity is what a published data set says of a setting.
type Publicity uint8

const (
	OnlyWhetherGiven Publicity = iota // an address or path of the operator's network and machine, or a password
	ItsValue
	ItsFileName // a path or URL
	ItsArchive  // the folder or URL of archives
	NotPublished
)

// Effect is what follows for the answers if two runs differ in a setting.
type Effect uint8

const (
	NoEffect Effect = iota // or the inputs and profiles show it
	FewDiffer
	AnswersDiffer
)

// Settings is the table of settings.
var Settings = []Setting{
	{Name: "hosts", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "column", Published: ItsValue, Not: []string{"demo"}},
	{Name: "force", Adjustable: true, Published: ItsValue, Not: []string{"demo"}},
	{Name: "warc", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "warc-paths", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "cdx", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "warc-base", Adjustable: true, Published: ItsArchive, Not: []string{"demo"}},
	{Name: "archive-rate", Adjustable: true, Published: ItsValue, Not: []string{"demo"}},
	{Name: "bodies", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "from-run", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "ranks", Published: ItsFileName, Not: []string{"demo"}},
	{Name: "label", Published: ItsValue},
	{Name: "labels", Published: ItsFileName},
	{Name: "sample", Published: ItsValue},
	{Name: "limit", Published: ItsValue, Not: []string{"plan"}},

	{Name: "profile", Published: ItsValue},
	{Name: "profiles", Published: ItsValue}, // the section of the configuration file
	{Name: "agents", Published: ItsFileName},
	{Name: "urls", Published: ItsFileName},
	{Name: "uses", Published: ItsValue}, // the section of the configuration file
	{Name: "templates", Published: ItsFileName},
	{Name: "max-redirects", Published: ItsValue, Effect: AnswersDiffer, Other: "another --max-redirects"},
	// A row for each host, or for each capture.
	{Name: "last-capture", Published: ItsValue, Effect: AnswersDiffer, Other: "another --last-capture"},

	{Name: "schemes", Published: ItsValue, Asks: true, Effect: AnswersDiffer, Other: "other --schemes"},
	{Name: "user-agent", Published: ItsValue, Asks: true, Effect: AnswersDiffer, Other: "another user agent"},
	{Name: "also-as", Published: ItsFileName, Asks: true},
	{Name: "pages", Published: ItsValue, Asks: true},
	{Name: "page", Published: ItsValue, Asks: true},
	{Name: "vantage", Published: ItsValue, Effect: AnswersDiffer, Other: "another vantage"},
	{Name: "timeout", Published: ItsValue, Asks: true, Effect: FewDiffer, Other: "another --timeout"},
	{Name: "retries", Published: ItsValue, Asks: true},
	{Name: "warc-out", Published: ItsFileName, Asks: true},
	{Name: "warc-no-secrets", Published: ItsValue, Asks: true},
	{Name: "front-page", Published: ItsValue},
	{Name: "sitemaps", Published: ItsValue},
	{Name: "sitemap-sample", Published: ItsValue},
	{Name: "keep-urls", Published: ItsValue},
	{Name: "documents", Published: ItsValue},
	{Name: "document-list", Published: ItsFileName},
	{Name: "probe-misconfigured", Published: ItsValue, Asks: true},
	{Name: "allow-private", Published: ItsValue, Asks: true},
	{Name: "ca-file", Published: ItsFileName, Asks: true},
	{Name: "connect-to", Asks: true, Not: []string{"demo"}},
	{Name: "resolver", Asks: true},
	{Name: "per-resolver", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "proxy", Adjustable: true, Local: true, Asks: true, Not: []string{"demo"}},
	{Name: "concurrency", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "per-address", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "per-domain", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "rate", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "address-rate", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "outage-patience", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "accept-unreachable", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "grace", Adjustable: true, Published: ItsValue, Asks: true},
	{Name: "state", Adjustable: true, Local: true},
	{Name: "max-age", Published: ItsValue},

	{Name: "as-of", Published: ItsValue},
	{Name: "future", Adjustable: true, Published: ItsValue},
	{Name: "tables", Published: ItsValue},
	{Name: "keep-bodies", Published: ItsValue},
	{Name: "keep-comments", Published: ItsValue},
	{Name: "memory", Adjustable: true, Published: NotPublished, Local: true},
	{Name: "parallelism", Adjustable: true, Published: ItsValue, Not: []string{"demo"}},
}

// Values are settings by name, as flags write them: a word, or a list of words. The
// sections of a configuration file, profiles and uses, are as they are written there.
type Values map[string]any

// Text returns the value of a setting that is a word, "" if it is not recorded.
func (v Values) Text(name string) string {
	text, _ := v[name].(string)
	return text
}

// Split returns the settings that the tables depend on, and those that a resumed run may
// change.
func (v Values) Split() (configuration, adjustable Values) {
	configuration, adjustable = make(Values), make(Values)
	for name, value := range v {
		if s, _ := SettingNamed(name); s.Adjustable {
			adjustable[name] = value
		} else {
			configuration[name] = value
		}
	}
	return configuration, adjustable
}

// SettingNamed returns a setting. ok is false for a name that is not in the table: a data
// set says of such a setting, of another version, only whether it was given.
func SettingNamed(name string) (s Setting, ok bool) {
	if i := slices.IndexFunc(Settings, func(s Setting) bool { return s.Name == name }); i >= 0 {
		return Settings[i], true
	}
	return Setting{Name: name}, false
}
