package check

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/robocensus/robocensus/cmd/internal/cli"
	"github.com/robocensus/robocensus/cmd/internal/settings"
	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// question is one line of check --jsonl. It has one of the bodies, and one agent or
// several tokens in order of preference. The pointers distinguish empty from
// absent.
type question struct {
	Robots    *string  `json:"robots"`
	RobotsB64 *[]byte  `json:"robots_b64"`
	Agent     *string  `json:"agent"`
	Agents    []string `json:"agents"`
	URL       *string  `json:"url"`
	Profile   *string  `json:"profile"`
	Uses      bool     `json:"uses"`
}

type reply struct {
	Decision
	Agent string `json:"agent"` // the token whose group applies, * or empty

	// nil unless asked for; without an entry if the URL may not be fetched
	Uses *map[string]useAnswer `json:"uses,omitempty"`

	Truncated bool `json:"truncated,omitempty"` // the size limit cuts the file
}

// useAnswer is what is stated about a use.
type useAnswer struct {
	Preference string  `json:"preference"`
	Mechanism  *string `json:"mechanism"` // nil if nothing is stated
	Line       int32   `json:"line"`      // then 0
}

// useAnswers returns the answers for all uses; none if the URL may not be fetched.
func useAnswers(uses robots.Uses, fetchable bool) *map[string]useAnswer {
	all := make(map[string]useAnswer)
	if fetchable {
		for use, s := range uses.Stated {
			all[usage.Use(use).String()] = useAnswer{s.Preference.String(), schema.NonZero(s.Mechanism.String()), s.Line}
		}
	}
	return &all
}

// maxQuestion bounds one line of questions.
const maxQuestion = 64 << 20

// checkJSONL answers a stream of questions, by profile if they name none.
func (f *checkFlags) checkJSONL(in io.Reader, out io.Writer, profile *robots.Profile) error {
	var file robots.File
	return answerLines(in, out, func(line []byte) (any, error) {
		q, body, err := parseQuestion(line)
		if err != nil {
			return nil, err
		}
		p, err := profileAsked(&f.Shared, q.Profile, profile)
		if err != nil {
			return nil, err
		}
		return q.answer(p, &file, body, f.Labels), nil
	})
}

// checkLiteral refuses own, which needs the registry.
func checkLiteral(p *robots.Profile) error {
	if p.ByAgent {
		return fmt.Errorf("profile %s judges an agent as its entry in the registry says, and questions take agents "+
			"literally: name the profile that judges", p.Name)
	}
	return nil
}

// answerLines answers line by line. A line that is not a question gets an object with
// an error, so that answers stay in step with questions, and the exit code is 65.
// Blank lines are skipped.
func answerLines(in io.Reader, out io.Writer, answerTo func(line []byte) (any, error)) error {
	r := bufio.NewReaderSize(in, 1<<16)
	w := bufio.NewWriter(out)
	var first error
	number := int64(0)
	for {
		line, err := readQuestion(r)
		if err == io.EOF {
			break
		}
		number++
		if err != nil {
			w.Flush()
			return &userfile.Error{Path: "standard input", Line: number, Err: err}
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		answer, err := answerTo(line)
		if err != nil {
			if first == nil {
				first = &userfile.Error{Path: "standard input", Line: number, Err: err}
			}
			answer = map[string]string{"error": err.Error()}
		}
		if err := cli.JSONLine(w, answer); err != nil {
			return err
		}
		if r.Buffered() == 0 { // a caller may wait for each answer
			if err := w.Flush(); err != nil {
				return fmt.Errorf("write an answer: %w", err)
			}
		}
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("write an answer: %w", err)
	}
	return first
}

// readQuestion reads a line of bounded length.
func readQuestion(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxQuestion {
			return nil, fmt.Errorf("is longer than %d MiB", maxQuestion>>20)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && len(line) > 0, err == nil:
			return line, nil
		default:
			return nil, err
		}
	}
}

func parseQuestion(line []byte) (*question, []byte, error) {
	q := new(question)
	if err := decodeQuestion(line, q); err != nil {
		return nil, nil, err
	}
	if q.URL == nil {
		return nil, nil, errors.New(`has no "url"`)
	}
	var body []byte
	var err error
	q.Agents, body, err = asked(q.Robots, q.RobotsB64, q.Agent, q.Agents)
	return q, body, err
}

// decodeQuestion decodes a question. It refuses text that JSON would decode to other
// bytes than the caller meant.
func decodeQuestion(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New(`is not UTF-8; give the bytes of a body as "robots_b64", and those of a URL as %XX`)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields() // a misspelt key would ask another question
	err := d.Decode(into)
	key, unknown := "", false
	if err != nil {
		if key, unknown = strings.CutPrefix(err.Error(), "json: unknown field "); !unknown {
			return notQuestion(err)
		}
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("has more than one JSON value; give one object per line")
	}
	if escape := loneSurrogate(line); escape != "" {
		return fmt.Errorf(`%s is half of a character; give the bytes of a body as "robots_b64", and those of a URL as %%XX`,
			escape)
	}
	if unknown {
		return fmt.Errorf("unknown key %s; see --help for the keys", key)
	}
	return nil
}

// asked returns the tokens and the body of a question.
func asked(text *string, b64 *[]byte, agent *string, agents []string) ([]string, []byte, error) {
	if agent != nil {
		agents = append([]string{*agent}, agents...)
	}
	switch {
	case agent != nil && len(agents) > 1:
		return nil, nil, errors.New(`has both "agent" and "agents"; keep one`)
	case len(agents) == 0:
		return nil, nil, errors.New(`has no "agent" and no "agents"`)
	case (text == nil) == (b64 == nil):
		return nil, nil, errors.New(`needs exactly one of "robots" and "robots_b64"`)
	case text != nil:
		return agents, []byte(*text), nil
	}
	return agents, *b64, nil
}

// loneSurrogate returns the first escape in a JSON text that is half of a UTF-16
// pair, "" for none. Package json would read it as U+FFFD and answer another
// question.
func loneSurrogate(text []byte) string {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return ""
		}
		text = text[i:]
		switch first := escaped(text); {
		case first < 0:
			text = text[2:]
		case !utf16.IsSurrogate(first):
			text = text[6:]
		case utf16.DecodeRune(first, escaped(text[6:])) == unicode.ReplacementChar:
			return string(text[:6])
		default:
			text = text[12:]
		}
	}
}

// escaped returns the code unit of the escape \uXXXX at the beginning of a JSON
// text, -1 if there is none.
func escaped(text []byte) rune {
	if !bytes.HasPrefix(text, []byte(`\u`)) {
		return -1
	}
	unit, _ := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(unit)
}

// notQuestion explains an error of package json without naming Go types.
func notQuestion(err error) error {
	var kind *json.UnmarshalTypeError
	var base64Text base64.CorruptInputError
	switch {
	case errors.As(err, &base64Text):
		return errors.New(`"robots_b64" is not base64`)
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("expected a JSON object, got a JSON %s", kind.Value)
	case errors.As(err, &kind) && (kind.Field == "agents" || strings.HasSuffix(kind.Field, ".agents")) &&
		kind.Type.Kind() == reflect.Slice:
		return fmt.Errorf(`%q is a JSON %s; it must be a list of strings`, kind.Field, kind.Value)
	case errors.As(err, &kind) && kind.Type.Kind() == reflect.Struct:
		return fmt.Errorf("%q is a JSON %s; it must be an object", kind.Field, kind.Value)
	case errors.As(err, &kind) && kind.Type.Kind() == reflect.Bool:
		return fmt.Errorf("%q is a JSON %s; it must be true or false", kind.Field, kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%q is a JSON %s; it must be a string", kind.Field, kind.Value)
	}
	return fmt.Errorf("is not JSON: %w", err)
}

// answer takes tokens and URL literally: no registry, no escaping, and so no policy
// token.
func (q *question) answer(profile *robots.Profile, file *robots.File, body []byte, labels usage.Vocabulary) reply {
	file.Parse(body, profile)
	judge := robots.NewJudge(profile, []robots.Agent{{Name: q.Agents[0], Tokens: q.Agents}})
	judge.Load(file)
	target := profile.LiteralTarget(*q.URL)
	policy := judge.Policy(0)
	r := reply{Decision: DecisionOf(file, policy.Judge(&target)), Agent: policy.GroupAgent, Truncated: file.Truncated}
	if q.Uses {
		r.Uses = useAnswers(policy.Uses(&target, labels))
	}
	return r
}

// profileAsked returns the profile that a question names, otherwise the default.
func profileAsked(f *settings.Shared, name *string, otherwise *robots.Profile) (*robots.Profile, error) {
	if name == nil {
		return otherwise, checkLiteral(otherwise)
	}
	p, ok := f.Profile(*name)
	if !ok {
		return nil, fmt.Errorf("unknown profile %q", *name)
	}
	return p, checkLiteral(p)
}
