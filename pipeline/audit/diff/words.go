package diff

import (
	"github.com/robocensus/robocensus/pipeline/closing"
	"github.com/robocensus/robocensus/sink/schema"
)

// setWords sets whose words decide about the agent of a row, before and after, and whose
// words the change of a policy is.
func (c *comparison) setWords(row *schema.Change) {
	names := c.d.names
	two := c.policyOf(*row.Profile, *row.Agent).rows
	row.TemplateBefore, row.TemplateAfter = names.Optional(two[0].Template), names.Optional(two[1].Template)
	var known bool
	if row.Template, known = c.files.GroupWords(two); !known {
		row.Template = decidesIn(row)
	}
}

// decidesIn returns the template of all that decides now; where something only opened or
// ended, and no template decides now, of all that decided before.
func decidesIn(row *schema.Change) *string {
	m, _ := closing.Of(row)
	if row.TemplateAfter == nil && (m.Opens && !m.Closes || row.Kind == "preference" && row.After == nil) {
		return row.TemplateBefore
	}
	return row.TemplateAfter
}
