package farm

import (
	"regexp"
	"strings"
	"testing"
)

func TestFaultsInError(t *testing.T) {
	for _, tt := range []struct{ yaml, want string }{
		{"a: {stauts: 503}", `f.yaml:1: unknown key "stauts"`},
		{"a: 503\nb:\n  status: many", "f.yaml:3: want a number from 0 to 9999"},
		{"a: 503\na: 504", `f.yaml:2: duplicate key "a"`},
		{"a: {body: x,\n body: y}", `f.yaml:2: duplicate key "body"`},
		{"- a", "f.yaml:1: want a map"},
		{"*.test: 503", "quote names that begin with an asterisk"},
		{"a: {", "f.yaml:1: "},
		{"a: 1\n---\nb: 2", "f.yaml:2: begins a second document"},
		{"a: {body: x, bomb: 1MB}", "f.yaml:1: more than one of body"},
		{"a: {bomb: 1MB, encoding: br}", "f.yaml:1: a bomb cannot have"},
		{"a: {raw: x, http09: true}", "f.yaml:1: more than one of garbage"},
		{"a: {reset: body, hang: start}", "f.yaml:1: reset and hang"},
		{"a: {reset: middle}", "f.yaml:1: want one of handshake, start, header, body"},
		{"a: {delay: 5}", `f.yaml:1: "5" is not a duration`},
		{"a: {pad: 5 stone}", `f.yaml:1: "5 stone": want a size`},
		{"a: {pad: 2GiB}", "of at most"},
		{"a: {share: 110%}", "f.yaml:1: share"},
		{"a:\n- {share: 60%}\n- {share: 60%}", "f.yaml:3: the shares"},
		{"a: {schemes: [gopher]}", "f.yaml:1: want http or https"},
		{"a: {then: {share: 10%}}", `f.yaml:1: "share" is not allowed here`},
		{"a: {paths: {x: 200}}", "f.yaml:1: a path begins with /"},
		{"a: {paths: {/: {as: {B: {as: {C: 403}}}}}}", `f.yaml:1: "as" is not allowed here`},
		{"a: {paths: {/: [200, 500]}}", "f.yaml:1: want a map"},
		{"a: {paths: {/: {status: [200, 500]}}}", "f.yaml:1: lists of statuses"},
		{"a: {paths: {/: {tls: plain}}}", `f.yaml:1: "tls" is not allowed here`},
		{"a: {body_file: no-such-file}", "f.yaml:1: body_file no-such-file: no such file"},
		{"a: {drip: {bytes: 1}}", "f.yaml:1: a drip needs every"},
		{"a: {drip: {speed: 1}}", `f.yaml:1: unknown key "speed"`},
		{"a: {headers: {X: {y: z}}}", "f.yaml:1: want text"},
		{"a: {garbage: maybe}", "f.yaml:1: want true or false"},
		{"a: {tls: weak}", "f.yaml:1: want one of wrong_name"},
		{"a: {interim: 200}", "f.yaml:1: want a number from 100 to 199"},
	} {
		_, err := ParseFaults(strings.NewReader(tt.yaml), "f.yaml")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", tt.yaml, err, tt.want)
		}
	}
	f, err := ParseFaults(strings.NewReader("a: 200\nb: {then: {paths: {/: {body_from: nobody.test}}}}"), "f.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Faults: f}); err == nil ||
		err.Error() != `f.yaml:2: body_from: no file for host "nobody.test"` {
		t.Error(err)
	}
}

func TestEmptyFaults(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}"} {
		if _, err := ParseFaults(strings.NewReader(text), "f.yaml"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestFormatIsWhatIsRead checks FaultFormat against ParseFaults: the example is
// valid, and each key that it lists is known.
func TestFormatIsWhatIsRead(t *testing.T) {
	_, text, _ := strings.Cut(FaultFormat, "\n\n")
	example, text, _ := strings.Cut(text, "\n\nAn exact name")
	if _, err := ParseFaults(strings.NewReader(example), "faults.txt"); err != nil {
		t.Error(err)
	}
	lines := regexp.MustCompile(`(?m)^  ([a-z0-9_]+): (.*?)(?:  |$)`).FindAllStringSubmatch(text, -1)
	if len(lines) < 35 {
		t.Fatalf("only %d keys found", len(lines))
	}
	values := map[string]string{
		"then": "{status: 200}", "body_file": "faults.txt", "redirect": "/", "tls": "plain",
		"reset": "body", "close": "body", "hang": "body", "framing": "close", "encoding": "br",
	}
	for _, line := range lines {
		key, value := line[1], line[2]
		if v := values[key]; v != "" {
			value = v
		}
		if _, err := ParseFaults(strings.NewReader("a: {"+key+": "+value+"}"), "faults.txt"); err != nil {
			t.Errorf("%s: %s: %v", key, value, err)
		}
	}
}
