package compare

import (
	"bytes"
	"encoding/json"
	"flag"
	"os/exec"
	"strings"
	"testing"
)

var pythonFiles = flag.Int("python-files", 0, "files that parsers in Python are asked about (0: a few)")

// pythonParsers are parsers in Python that have a profile: how to find the version that is
// installed, and how it is asked.
var pythonParsers = []struct {
	name     string
	version  string            // prints the version
	profiles map[string]string // by the start of the version
	parse    string            // defines parse(body), which returns a function of URL and agent
}{
	{"urllib", "import sys; print('%d.%d.' % sys.version_info[:2])", map[string]string{"3.11.": "urllib-3.11"}, `
import urllib.robotparser
def parse(body):
    p = urllib.robotparser.RobotFileParser()
    p.parse(body.decode("utf-8").splitlines())
    return lambda url, agent: p.can_fetch(agent, url)
`},
	{"protego", "import importlib.metadata; print(importlib.metadata.version('protego'))",
		map[string]string{"0.1.": "protego-0.2", "0.2.": "protego-0.2", "0.4.": "protego", "0.5.": "protego",
			"0.6.": "protego", "0.7.": "protego-0.7"}, `
import protego
def parse(body):
    return protego.Protego.parse(body.decode("utf-8-sig", "ignore")).can_fetch
`},
}

const pythonLoop = `
import sys, json, base64
for line in sys.stdin:
    f = json.loads(line)
    answers = []
    try:
        ask = parse(base64.b64decode(f["body"]))
    except Exception:
        ask = None
    for url in f["urls"]:
        try:
            answers.append("1" if ask("https://h.example" + url, f["agent"]) else "0")
        except Exception:
            answers.append("E")
    print(json.dumps(answers), flush=True)
`

// Parsers in Python beside the profiles of their versions, on files that name an agent and on
// files made to be misread.
func TestPythonReadsAsItsProfile(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	files := *pythonFiles
	if files == 0 {
		files = 60
	}
	for n, p := range pythonParsers {
		t.Run(p.name, func(t *testing.T) {
			for _, program := range []string{python, "/usr/bin/python3"} {
				version, err := exec.Command(program, "-c", p.version).Output()
				for start, profile := range p.profiles {
					if err == nil && strings.HasPrefix(string(version), start) {
						d := newDrawer(t, uint64(n)+2, "FooBot")
						askParser(t, exec.CommandContext(t.Context(), program, "-c", p.parse+pythonLoop), profile, d, files)
						return
					}
				}
			}
			t.Skipf("no version of %s that a profile stands for is installed", p.name)
		})
	}
}

// askParser asks a parser and its profile about random files. The command reads files and
// writes answers, each one JSON text a line.
func askParser(t *testing.T, c *exec.Cmd, profile string, d *drawer, count int) {
	t.Helper()
	var in bytes.Buffer
	files := make([]file, count)
	for i := range files {
		files[i] = d.drawFor(t, profile, 200)
		line, err := json.Marshal(map[string]any{"body": files[i].body, "agent": files[i].agent, "urls": files[i].urls})
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	c.Stdin = &in
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	asked, missed, closed, failed := 0, 0, 0, 0
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var answers []string
		if err := json.Unmarshal(line, &answers); err != nil {
			t.Fatal(err)
		}
		for k, got := range ask(t, profile, &files[i]) {
			asked++
			if answers[k] == "0" {
				closed++
			}
			if answers[k] == "E" && got != "E" {
				failed++ // on a rule such as //[
				continue
			}
			if answers[k] != got {
				if missed++; missed <= *drawMisses {
					t.Logf("%s: %s, profile %s\n%.4000q", files[i].urls[k], answers[k], got, files[i].body)
				}
			}
		}
	}
	t.Logf("%s: asked %d, of which %d are forbidden, the parser fails on %d and the profile misses %d", profile, asked,
		closed, failed, missed)
	if missed*1000 > asked || closed == 0 {
		t.Errorf("%s misses %d of %d", profile, missed, asked)
	}
}
