package robots

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of twelve programs in README.md says what was recorded of each. What a case shows
// of a body, two cases do, one of which closes the site and one of which opens it.
func TestMatrixOfPrograms(t *testing.T) {
	recorded := make(map[string]map[string]string) // by case and program
	r := bufio.NewScanner(gunzipped(t, recordedCrawlers))
	r.Buffer(nil, 1<<20)
	for r.Scan() {
		var row struct {
			Kind, Case string
			Answers    map[string]string
		}
		if err := json.Unmarshal(r.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		if row.Kind == "status" {
			recorded[row.Case] = row.Answers
		}
	}
	programs := []struct{ column, name, profile string }{
		{"crawlee-http-3.18.1", "Crawlee 3.18.1", "`crawlee`"}, {"scrapy-2.8.0", "Scrapy 2.8.0", "`scrapy`"},
		{"broken-link-checker-0.7.8", "broken-link-checker 0.7.8", ""}, {"simplecrawler-1.1.9", "simplecrawler 1.1.9",
			"`simplecrawler`"},
		{"supercrawler-2.0.0", "supercrawler 2.0.0", ""}, {"robots-0.10.1", "robots (npm) 0.10.1", ""},
		{"colly-2.3.0", "colly 2.3.0", "`colly`"},
		{"linkchecker-10.2.1", "linkchecker 10.2.1", ""}, {"lwp-robotua-6.68", "LWP::RobotUA 6.68", ""},
		{"wget-1.21.3", "Wget 1.21.3", "`wget`"},
		{"httrack-3.49.4", "HTTrack 3.49.4", "`httrack`"}, {"robotstxt-r-d3d0a4d5", "R's robotstxt d3d0a4d5",
			"`robotstxt-r`"},
	}
	said := map[string]string{"allow": "open", "forbid": "closed", "error": "fails"}
	var want []string
	for _, p := range programs {
		is := func(name string) string { return said[recorded[name][p.column]] }
		body := func(status string) string {
			closed, open := is(status+"-closed"), is(status+"-open-body")
			if closed == "closed" && open == "open" {
				return "body"
			}
			if closed != open {
				t.Errorf("%s at %s: %s and %s", p.name, status, closed, open)
			}
			return closed
		}
		followed := ""
		for _, status := range []string{"301", "302", "303", "307", "308"} {
			switch is(status + "-to-closed") {
			case "closed":
				followed += " " + status
			case "fails":
				followed = " fails if relative"
			}
		}
		followed = strings.Replace(strings.Replace(followed, " 301 302 303 307 308", " all", 1), " ", "", 1)
		if followed == "" {
			followed = "none"
		}
		other := map[string]string{"closed": "yes", "open": "no"}[is("302-to-other-host")]
		types := func(name string) string { return map[string]string{"closed": "read", "open": "no file"}[is(name)] }
		row := []string{p.name, p.profile, is("301-closed"), followed, other, body("401"), body("404"), body("429"),
			body("503"), is("drop"), is("timeout"),
			types("200-html-type-closed"), types("200-octet-closed")}
		if p.column == "robots-0.10.1" { // from the case loop on, each answer stands one case below its own
			row[10], row[11] = "closed", "read"
		}
		want = append(want, "| "+strings.Join(row, " | ")+" |")
	}
	const head = "| program | profile | 3xx without location | redirects followed | to another host | 401 | 404 | 429 | " +
		"503 | connection dropped | no answer in time | text/html | octet-stream |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
	content, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(content), head)
	table, after, end := strings.Cut(rest, "\n\n")
	if !ok || !end {
		t.Fatalf("README.md lacks the table\n%s", head)
	}
	got := strings.Join(want, "\n")
	if got == table {
		return
	}
	if !*update {
		t.Fatalf("README.md is not current (go test ./robots -run MatrixOfPrograms -update rewrites it): it has\n%s\n"+
			"and was recorded\n%s", table, got)
	}
	if err := os.WriteFile("README.md", fmt.Append(nil, before, head, got, "\n\n", after), 0o666); err != nil {
		t.Fatal(err)
	}
}
