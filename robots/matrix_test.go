package robots

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of little-used parsers in README.md has the number of minimal files that each
// answers otherwise than Google's, as recorded.
func TestMatrixOfLittleUsedParsers(t *testing.T) {
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		Kind, Name string
		Answers    map[string]string
	}
	read := func(name string, take func(row)) {
		r := bufio.NewScanner(gunzipped(t, name))
		r.Buffer(nil, 64<<20)
		for r.Scan() {
			var x row
			if err := json.Unmarshal(r.Bytes(), &x); err != nil {
				t.Fatal(err)
			}
			take(x)
		}
	}
	google := make(map[string]string)
	read(recordedAnswers+"probes.jsonl.gz", func(x row) { google[x.Name] = x.Answers["google-cpp"] })
	counts := make(map[string][2]int)
	read(recordedCrawlers, func(x row) {
		for parser, answer := range x.Answers {
			if n := counts[parser]; x.Kind == "probe" {
				if n[1]++; answer != google[x.Name] {
					n[0]++
				}
				counts[parser] = n
			}
		}
	})
	for parser, begins := range map[string]string{
		"httrack-3.49.4": "HTTrack | 3.49.4", "linkchecker-10.2.1": "linkchecker |", "robots-0.10.1": "robots (npm) |",
		"samclarke-2817654b":  "samclarke/robotstxt |",
		"benjaminestes-2.0.5": "benjaminestes/robots |", "exclusion-0.2.0": "exclusion (npm) |",
		"robots-txt-guard-0.1.1": "robots-txt-guard (npm), of",
		"robots-txt-guard-1.0.2": "robots-txt-guard (npm) |", "slyrz-7ebb2b6f": "slyrz/robots |",
		"spiderbar-0.2.4": "spiderbar, of", "robotstxt-r-d3d0a4d5": "R's robotstxt |",
		"protego-0.2.1": "protego, of", "robots-parser-2.4.0": "robots-parser (npm), of",
		"robots-parser-1.0.2": "robots-parser (npm) |", "crawlee-utils-3.18.1": "Crawlee (",
	} {
		_, rest, _ := strings.Cut(string(content), "\n| "+begins)
		line, _, _ := strings.Cut(rest, "\n")
		if want := fmt.Sprintf("| %d of %d |", counts[parser][0], counts[parser][1]); !strings.Contains(line, want) {
			t.Errorf("the row of %s lacks %q", parser, want)
		}
	}
	if len(counts) != 15 {
		t.Errorf("%d parsers are recorded", len(counts))
	}
}
