package compare

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var nodeFiles = flag.Int("node-files", 0, "files that Crawlee is asked about (0: a few)")

// askCrawlee reads files and writes answers as askParser has them.
const askCrawlee = `
import utils from %q;
import readline from 'readline';
for await (const line of readline.createInterface({input: process.stdin})) {
  const f = JSON.parse(line);
  const file = utils.RobotsTxtFile.from('https://h.example/robots.txt', new TextDecoder().decode(Buffer.from(f.body, 'base64')));
  console.log(JSON.stringify(f.urls.map(url => {
    try { return file.isAllowed('https://h.example' + url, f.agent) ? '1' : '0' } catch { return 'E' }
  })));
}
`

// Crawlee's reader of robots.txt, as npm has it (npm install -g @crawlee/utils@3.18.1), beside
// its profile.
func TestCrawleeReadsAsItsProfile(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	at := os.Getenv("CRAWLEE") // the folder of the package, if it is elsewhere
	if at == "" {
		root, err := exec.Command("npm", "root", "-g").Output()
		if err != nil {
			t.Skip("npm is not installed")
		}
		at = filepath.Join(strings.TrimSpace(string(root)), "@crawlee/utils")
	}
	if text, err := os.ReadFile(filepath.Join(at, "package.json")); err != nil ||
		!bytes.Contains(text, []byte(`"version": "3.18.1"`)) {
		t.Skipf("no @crawlee/utils 3.18.1 at %s (npm install -g @crawlee/utils@3.18.1)", at)
	}
	script := filepath.Join(t.TempDir(), "ask.mjs")
	if err := os.WriteFile(script, fmt.Appendf(nil, askCrawlee, filepath.Join(at, "index.js")), 0o666); err != nil {
		t.Fatal(err)
	}
	files := *nodeFiles
	if files == 0 {
		files = 60
	}
	askParser(t, exec.CommandContext(t.Context(), node, script), "crawlee", newDrawer(t, 5, "FooBot"), files)
}
