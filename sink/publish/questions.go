package publish

import "strings"

// Answers are the answers to those questions of "Datasheets for Datasets" (Gebru and
// others, 2021) that no program can answer. They may have several paragraphs.
type Answers struct {
	Motivation  string `yaml:"motivation" json:"motivation,omitempty"`
	Ethics      string `yaml:"ethics" json:"ethics,omitempty"`
	Uses        string `yaml:"uses" json:"uses,omitempty"`
	Maintenance string `yaml:"maintenance" json:"maintenance,omitempty"`
}

// question is a question of the data sheet, and its answer.
type question struct {
	key, title, asks string
	rai              string // the property of Croissant's vocabulary that has the answer, "" for none
	answer           string
}

func (a *Answers) questions() []question {
	return []question{
		{"motivation", "Motivation", "For what purpose was the data set made? Which gap does it fill?", "", a.Motivation},
		{"ethics", "Ethics", "Was there an ethical review? Whom may the data set harm, and what is done about it? Does " +
			"it have data about persons?", "rai:dataSocialImpact", a.Ethics},
		{"uses", "Uses", "What has it been used for, and what could it be used for? For what should it not be used?",
			"rai:dataUseCases", a.Uses},
		{"maintenance", "Maintenance",
			"Who maintains it, and how can they be reached? Will there be further versions, and are older ones kept? Where " +
				"are errors reported?", "rai:dataReleaseMaintenancePlan", a.Maintenance},
	}
}

// Open returns the keys of the questions that have no answer.
func (a *Answers) Open() (keys []string) {
	for _, q := range a.questions() {
		if q.answer == "" {
			keys = append(keys, q.key)
		}
	}
	return keys
}

// questions writes what only the makers know. A question without an answer stays in
// sight.
func (p *dataSet) questions(s *sheet) {
	s.line("## What only its makers know\n")
	for _, q := range p.Provenance.Metadata.questions() {
		s.line("### %s\n\n*%s*\n", q.title, q.asks)
		if q.answer == "" {
			s.line("**Not answered.** (`%s` in the file of `--words`)\n", q.key)
		} else {
			s.line("%s\n", strings.TrimSpace(paragraphs(q.answer)))
		}
	}
}

// paragraphs keeps an answer from ending its section: it escapes lines that would be headings.
func paragraphs(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "#") {
			lines[i] = `\` + strings.TrimLeft(line, " ")
		}
	}
	return strings.Join(lines, "\n")
}
