package evaluate

import (
	"testing"

	"github.com/robocensus/robocensus/robots/template"
	"github.com/robocensus/robocensus/sink/schema"
)

// A policy that is merged from a template's group and one of the file's own has no
// template, as a dialect reads it too.
func TestTemplateOfMergedGroups(t *testing.T) {
	templates := template.New([]template.Template{{ID: "x", Kind: "cdn", Begin: "# begin", End: "# end"}})
	const managed = "# begin\nUser-agent: *\nDisallow: /a\n# end\n"
	for _, profile := range []string{"google", "rfc9309", "protego"} {
		for body, want := range map[string]string{managed: "x", managed + "User-agent: *\nDisallow: /b\n": "",
			"User-agent: *\nDisallow: /b\n" + managed: ""} {
			e := Prepare(Config{Agents: []schema.Agent{{Name: "Spider", Tokens: []string{"Spider"}}}, Templates: templates,
				Profiles: profilesNamed(profile)}).Evaluator()
			e.ask(200, body)
			e.read(0, []byte(body), questions{judging: true})
			got := ""
			if template := e.readings[0].content.policies[0].template; template != nil {
				got = *template
			}
			if got != want {
				t.Errorf("%s of %q: template %q, want %q", profile, body, got, want)
			}
		}
	}
}
