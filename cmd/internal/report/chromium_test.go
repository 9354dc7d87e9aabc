package report

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/cmd/internal/report/reporttest"
	"github.com/robocensus/robocensus/cmd/internal/series"
)

// In a browser, no hostile text runs and the page makes no request. A page without
// escaping shows that the test would notice.
func TestNothingRunsInChromium(t *testing.T) {
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium is installed here")
	}
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	dir := t.TempDir()
	// dump returns the document after its scripts have run.
	dump := func(name string, content []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		must(t, os.WriteFile(path, content, 0o666))
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
			"--disable-background-networking",
			"--user-data-dir="+filepath.Join(dir, name+"-profile"), "--virtual-time-budget=3000", "--dump-dom", "file://"+path)
		var stderr bytes.Buffer
		c.Stderr = &stderr
		out, err := c.Output()
		if err != nil || !bytes.Contains(out, []byte("</html>")) {
			t.Fatalf("%v: %s", err, &stderr)
		}
		return string(out)
	}
	image := `<img src="` + server.URL + `/x">`
	if out := dump("open.html", []byte(`<!DOCTYPE html><html><body>`+reporttest.Hostile[0]+image+
		`</body></html>`)); !strings.Contains(out, `<html data-ran="1"`) || asked.Load() == 0 {
		t.Fatalf("what is not escaped does not run either (%d requests): %s", asked.Load(), out)
	}
	asked.Store(0)
	reporttest.Hostile = append(reporttest.Hostile, image)
	defer func() { reporttest.Hostile = reporttest.Hostile[:len(reporttest.Hostile)-1] }()
	out := dump("report.html", hostilePage(t))
	if strings.Contains(out, "data-ran=\"1\"") || asked.Load() > 0 {
		t.Errorf("hostile text ran, or made %d requests", asked.Load())
	}
	if !strings.Contains(out, "&lt;img src=") {
		t.Error("the hostile text is not in the page")
	}
	page, err := series.Page(reporttest.Series())
	must(t, err)
	if out := dump("series.html", page); strings.Contains(out, "data-ran=\"1\"") || asked.Load() > 0 {
		t.Errorf("hostile text of a series ran, or made %d requests", asked.Load())
	}
	// Even if markup is not escaped, the page's own policy stops it.
	slipped := bytes.Replace(hostilePage(t), []byte("<main>"), []byte("<main>"+reporttest.Hostile[0]+
		reporttest.Hostile[1]+image), 1)
	if out := dump("slipped.html", slipped); strings.Contains(out, `<html lang="en" data-ran="1"`) || asked.Load() > 0 {
		t.Errorf("the policy of the page lets scripts run, or made %d requests", asked.Load())
	}
}
