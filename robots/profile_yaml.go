package robots

// UnmarshalYAML decodes onto the profile. A field may also stand beside the groups,
// as in configuration files and runs from before there were groups; then reading is
// called lines. It is the older of the two methods that package yaml knows, which
// needs no import and leaves unknown fields to the decoder.
func (p *Profile) UnmarshalYAML(decode func(any) error) error {
	return decode(&struct {
		Name         *string    `yaml:"name"`
		SizeLimit    *int       `yaml:"size_limit"`
		MaxRedirects *int       `yaml:"max_redirects"`
		ByAgent      *bool      `yaml:"by_agent"`
		Lines        *linesYAML `yaml:"lines"`
		Groups       *Groups    `yaml:"groups"`
		Matching     *Matching  `yaml:"matching"`
		Answers      *Answers   `yaml:"answers"`

		FlatLines    *Lines    `yaml:",inline"`
		FlatGroups   *Groups   `yaml:",inline"`
		FlatMatching *Matching `yaml:",inline"`
		FlatAnswers  *Answers  `yaml:",inline"`
	}{
		&p.Name, &p.SizeLimit, &p.MaxRedirects, &p.ByAgent, (*linesYAML)(&p.Lines), &p.Groups, &p.Matching, &p.Answers,
		&p.Lines, &p.Groups, &p.Matching, &p.Answers,
	})
}

// linesYAML is the group lines, or the field that was called so.
type linesYAML Lines

func (l *linesYAML) UnmarshalYAML(decode func(any) error) error {
	var reading string
	if decode(&reading) == nil {
		return l.Reading.UnmarshalText([]byte(reading))
	}
	return decode((*Lines)(l))
}
