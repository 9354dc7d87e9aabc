package sitemap

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Readers of others beside the shared examples, which ours reads as they say (TestExamples):
// each gives the same pages, or what the table of the examples says of it. The packages of npm
// are those of the folder NPM_READERS (npm install sitemapper@4.1.6 sitemap@9.0.1
// @crawlee/utils@3.18.1), scrapy is Debian's python3-scrapy.
func TestReadersOfOthers(t *testing.T) {
	cases, table := exampleCases(t), readersTable(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for i := range cases {
			for _, f := range cases[i].Files {
				if f.URL != "http://"+r.Host+r.URL.RequestURI() {
					continue
				}
				var body []byte
				if f.File != "" {
					body, _ = os.ReadFile(filepath.Join(examples, f.File))
				}
				for name, value := range f.Headers {
					w.Header().Set(name, value)
				}
				w.WriteHeader(f.Status)
				w.Write(body)
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, reader := range []string{"scrapy", "sitemapper", "sitemap", "crawlee"} {
		t.Run(reader, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), "/usr/bin/python3", "testdata/ask.py", port)
			if reader == "scrapy" {
				if exec.Command("/usr/bin/python3", "-c", "import scrapy; assert scrapy.__version__ == '2.8.0'").Run() != nil {
					t.Skip("scrapy 2.8.0 is not here (apt-get install python3-scrapy)")
				}
			} else {
				packages := os.Getenv("NPM_READERS")
				if _, err := exec.LookPath("node"); err != nil || packages == "" {
					t.Skip("node or its packages are not here: NPM_READERS names their folder")
				}
				c = exec.CommandContext(t.Context(), "node", "testdata/ask.mjs", packages, reader, port)
			}
			var asked strings.Builder
			for i := range cases {
				fmt.Fprintln(&asked, cases[i].Entry)
			}
			c.Stdin = strings.NewReader(asked.String())
			var errs strings.Builder
			c.Stderr = &errs
			text, err := c.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, &errs)
			}
			lines, same, explained := bufio.NewScanner(strings.NewReader(string(text))), 0, 0
			lines.Buffer(nil, 16<<20)
			for i := range cases {
				var got []string
				if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil {
					t.Fatalf("%s: no answer: %s", cases[i].Name, &errs)
				}
				cell, known := compared(cases[i].URLs, got), table[cases[i].Name][reader]
				switch {
				case cell == "=":
					same++
				case cell == known, known == "~", known == "set", cell == asTheyAreAsked[reader+" "+cases[i].Name]:
					explained++
				default:
					t.Errorf("%s: %s, and the table says %q: %q, ours are %q", cases[i].Name, cell, known, got, cases[i].URLs)
				}
			}
			t.Logf("%s: %d the same, %d as the table says, of %d", reader, same, explained, len(cases))
		})
	}
}

// asTheyAreAsked are cells that differ from those of the table by how the scripts ask: a request
// of scrapy writes the host in lower case, and the one parser of npm's sitemap is asked first.
var asTheyAreAsked = map[string]string{"scrapy other-hosts": "5/6+2", "sitemap index-with-urls": "1/2"}

// compared tells how many of our pages another reader has, and how many it has that are none.
func compared(ours, theirs []string) string {
	left, found := slices.Clone(theirs), 0
	for _, url := range ours {
		if i := slices.Index(left, url); i >= 0 {
			left, found = slices.Delete(left, i, i+1), found+1
		}
	}
	switch {
	case found == len(ours) && len(left) == 0:
		return "="
	case len(left) == 0:
		return fmt.Sprintf("%d/%d", found, len(ours))
	}
	return fmt.Sprintf("%d/%d+%d", found, len(ours), len(left))
}

func exampleCases(t *testing.T) (all []example) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, "index.jsonl"))
	if err != nil {
		t.Skip("the shared examples are not here: ", err)
	}
	for line := range strings.Lines(string(text)) {
		var x example
		if err := json.Unmarshal([]byte(line), &x); err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	return all
}

// readersTable reads the table of readers beside the examples: cells by case and reader.
func readersTable(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(examples, "../README.md"))
	if err != nil {
		t.Skip("the table of readers is not here: ", err)
	}
	var head []string
	table := make(map[string]map[string]string)
	for line := range strings.Lines(string(text)) {
		var cells []string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		switch {
		case cells[0] == "case":
			head = cells
		case len(head) > 0 && len(cells) == len(head):
			table[cells[0]] = make(map[string]string)
			for i, cell := range cells {
				table[cells[0]][head[i]] = cell
			}
		case len(head) > 0:
			return table
		}
	}
	return table
}
