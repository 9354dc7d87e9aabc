package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/robots/portable"
)

// askLighthouse reads bodies, one JSON text a line, and writes what the audit says of each.
const askLighthouse = `
import RobotsTxt from %q;
import readline from 'readline';
for await (const line of readline.createInterface({input: process.stdin})) {
  const content = new TextDecoder('utf-8', {ignoreBOM: true}).decode(Buffer.from(JSON.parse(line), 'base64'));
  const r = RobotsTxt.audit({RobotsTxt: {status: 200, content}});
  console.log(JSON.stringify(r.details ? r.details.items.map(i => i.index + ' ' + i.message) : []));
}
`

// The audit of Lighthouse itself, as npm has it (npm install -g lighthouse@13.5.0), beside
// LighthouseErrors of package portable: on real files, and on random ones.
func TestLighthouseFindsTheSameErrors(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	root, err := exec.Command("npm", "root", "-g").Output()
	if err != nil {
		t.Skip("npm is not installed")
	}
	at := os.Getenv("LIGHTHOUSE") // the folder of the package, if it is elsewhere
	if at == "" {
		at = filepath.Join(strings.TrimSpace(string(root)), "lighthouse")
	}
	if text, err := os.ReadFile(filepath.Join(at, "package.json")); err != nil ||
		!bytes.Contains(text, []byte(`"version": "13.5.0"`)) {
		t.Skipf("no Lighthouse 13.5.0 at %s (npm install -g lighthouse@13.5.0)", at)
	}
	var bodies [][]byte
	t.Run("files", func(t *testing.T) {
		all := corpus(t)
		for _, host := range slices.Sorted(maps.Keys(all)) {
			bodies = append(bodies, all[host])
		}
	})
	real := len(bodies)
	d := &drawer{Rand: rand.New(rand.NewPCG(13, 5)), agent: "FooBot"}
	for range 3000 {
		bodies = append(bodies, append(d.body(), d.sitemaps()...))
	}
	script := filepath.Join(t.TempDir(), "ask.mjs")
	if err := os.WriteFile(script, fmt.Appendf(nil, askLighthouse, filepath.Join(at, "core/audits/seo/robots-txt.js")),
		0o666); err != nil {
		t.Fatal(err)
	}
	var in bytes.Buffer
	for _, body := range bodies {
		line, _ := json.Marshal(body)
		in.Write(append(line, '\n'))
	}
	c := exec.CommandContext(t.Context(), node, script)
	c.Stdin, c.Stderr = &in, os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	failed, errors := 0, 0
	for i, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var want []string
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatal(err)
		}
		if len(want) > 0 && i < real {
			failed++
		}
		errors += len(want)
		var got []string
		for _, e := range portable.LighthouseErrors(nil, bodies[i]) {
			got = append(got, fmt.Sprintf("%d %s", e.Line, e.Fault.Message()))
		}
		for k := range want {
			want[k] = strings.Replace(want[k], "Invalid sitemap URL protocol", portable.FaultSitemap.Message(), 1)
			if strings.HasSuffix(want[k], "Invalid sitemap URL") {
				want[k] = strings.Replace(want[k], "Invalid sitemap URL", portable.FaultSitemap.Message(), 1)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q:\n%q, want\n%q", clip(bodies[i]), without(got, want), without(want, got))
		}
	}
	t.Logf("%d of %d real files fail the audit (%.1f %%); %d errors in %d files", failed, real,
		100*float64(failed)/float64(max(real, 1)), errors, len(bodies))
}

func clip(b []byte) []byte { return b[max(0, len(b)-300):] }

func without(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// sitemaps draws lines that the URL standard reads in its own way.
func (d *drawer) sitemaps() (out []byte) {
	for range 8 {
		host := pick(d, "h.example", "h", "", "1.2.3.4", "1.2.3.400", "0x1", "08.1", "1.2.3.4.5", "1.2.3.", "a b", "a%20b",
			"%68", "a_b", "-a-", "xn--", "xn--a", "müller.eu",
			"[::1]", "[::1", "[1::%25a]", "a..b", ".", "a.", "ａ", "a\u00adb", "\u00ad", "a|b", "a^b", "::", "u:p@h", "@",
			"a@b@c", "0x", "1.0x.", "4294967296", "0.0.0.4294967295", "日本.jp", "א1.example", "256", "ß.de", "a\u200db")
		out = append(out, pick(d, "Sitemap", "sitemap", "SITEMAP ", " Sitemap")+": "...)
		out = append(out, pick(d, "http://", "https://", "HTTPS://", "ftp://", "http:", "http:/", `http:\\`, "http:////",
			"file://", "mailto:", "//", "/", "", "ws://", "foo:", "1http://")...)
		out = append(out, host+pick(d, "", "", ":80", ":", ":65535", ":65536", ":080", ":8a", ":-1", ":+1")+
			pick(d, "/sitemap.xml", "", "?q", `\x`, "/a b", "/%zz", "/é")+"\n"...)
	}
	return out
}
