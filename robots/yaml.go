package robots

import (
	"fmt"
	"strings"

	"github.com/robocensus/robocensus/robots/answer"
)

// UnmarshalYAML decodes onto the profile. A field may also stand beside the groups,
// as in configuration files and runs from before there were groups; then reading is
// called lines. It is the older of the two methods that package yaml knows, which
// needs no import and leaves unknown fields to the decoder.
func (p *Profile) UnmarshalYAML(decode func(any) error) error {
	return decode(&struct {
		Name         *string         `yaml:"name"`
		SizeLimit    *int            `yaml:"size_limit"`
		MaxRedirects *int            `yaml:"max_redirects"`
		ByAgent      *bool           `yaml:"by_agent"`
		Lines        *linesYAML      `yaml:"lines"`
		Groups       *Groups         `yaml:"groups"`
		Matching     *Matching       `yaml:"matching"`
		Answers      *answer.Answers `yaml:"answers"`

		FlatLines    *Lines          `yaml:",inline"`
		FlatGroups   *Groups         `yaml:",inline"`
		FlatMatching *Matching       `yaml:",inline"`
		FlatAnswers  *answer.Answers `yaml:",inline"`
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

func oneOf[T ~string](dst *T, text []byte, values ...T) error {
	for _, v := range values {
		if string(text) == string(v) {
			*dst = v
			return nil
		}
	}
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return fmt.Errorf("%q is not one of %s", text, strings.Join(names, ", "))
}

// UnmarshalText accepts the values of LineReading.
func (v *LineReading) UnmarshalText(b []byte) error { return oneOf(v, b, LinesPlain, LinesGoogle) }

// UnmarshalText accepts the values of Leniency.
func (v *Leniency) UnmarshalText(b []byte) error { return oneOf(v, b, Reject, Accept, Open) }

// UnmarshalText accepts the values of GroupEnd.
func (v *GroupEnd) UnmarshalText(b []byte) error {
	return oneOf(v, b, EndAtRule, EndAtRecord, EndAtAgent)
}

// UnmarshalText accepts the values of AgentMatch.
func (v *AgentMatch) UnmarshalText(b []byte) error {
	return oneOf(v, b, MatchToken, MatchTokenCase, MatchTokenOpen, MatchSubstring)
}

// UnmarshalText accepts the values of SeveralGroups.
func (v *SeveralGroups) UnmarshalText(b []byte) error { return oneOf(v, b, MergeGroups, AnyGroup) }

// UnmarshalText accepts the values of DelayScope.
func (v *DelayScope) UnmarshalText(b []byte) error {
	return oneOf(v, b, DelayOfGroup, DelayListed, DelayListedLast, DelayListedLeast)
}

// UnmarshalText accepts the values of Escapes.
func (v *Escapes) UnmarshalText(b []byte) error {
	return oneOf(v, b, EscapesLiteral, EscapesPattern, EscapesBoth, EscapesRFC)
}

// UnmarshalText accepts the values of Reserved.
func (v *Reserved) UnmarshalText(b []byte) error {
	return oneOf(v, b, ReservedDistinct, ReservedEqual, ReservedOpen)
}

// UnmarshalText accepts the values of Precedence.
func (v *Precedence) UnmarshalText(b []byte) error {
	return oneOf(v, b, Longest, LongestOpen, LongestOrLeast)
}

// UnmarshalText accepts the values of Ties.
func (v *Ties) UnmarshalText(b []byte) error { return oneOf(v, b, TiesAllow, TiesOpen) }
