package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the answers in the documents, and those of the queries, anew")

const repository = "../.."

// documents are the documents whose commands and queries TestDocuments pastes.
var documents = []string{"README.md", "configs/deploy/README.md", "configs/queries/README.md",
	"configs/schedule/README.md", "robots/README.md", "sink/README.md"}

// A block is fenced text of a document. A text block directly below a command or
// query is its answer.
type block struct {
	language, text string
	at             int // where text begins in the document
}

var fence = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

func blocksOf(t *testing.T, document string) (text string, blocks []block) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(repository, document))
	must(t, err)
	text = string(content)
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		blocks = append(blocks, block{text[m[2]:m[3]], text[m[4]:m[5]], m[4]})
	}
	return text, blocks
}

// isAnswer reports whether block i is the answer of the block above it.
func isAnswer(text string, blocks []block, i int) bool {
	if i == 0 || blocks[i].language != "text" || !slices.Contains([]string{"sh", "sql"}, blocks[i-1].language) {
		return false
	}
	above := blocks[i-1]
	return text[above.at+len(above.text):blocks[i].at] == "```\n\n```text\n"
}

// Every document works if it is pasted, from top to bottom, in a fresh clone: no
// command fails, each query runs over the tables in out/, and the output is the
// answer in the document.
func TestDocuments(t *testing.T) {
	t.Parallel()
	web := newInternet(t)
	for _, document := range documents {
		t.Run(document, func(t *testing.T) {
			text, blocks := blocksOf(t, document)
			clone := freshClone(t)
			shell := newShell(t, clone, web)
			made, end, printed := "", 0, ""
			var db *sql.DB // the tables in out/, until a command may change them
			for i, b := range blocks {
				switch {
				case isAnswer(text, blocks, i):
					got, want := neutral(printed), neutral(b.text)
					if strings.Contains(b.text, elided) {
						if !elides(want, got) {
							t.Errorf("%s: %sprints\n%s, of which this is no part:\n%s", document, blocks[i-1].text, printed, b.text)
						}
					} else if got != want && !*update {
						t.Errorf("%s: the answer of\n%s(-document +printed; go test -run Documents -update writes it anew):\n%s",
							document, blocks[i-1].text, cmp.Diff(want, got))
					} else if got != want {
						made += text[end:b.at] + printed
						end = b.at + len(b.text)
					}
				case b.language == "sh":
					printed, db = shell.paste(t, b.text), nil
				case b.language == "sql":
					if db == nil {
						db = quick(t, filepath.Join(clone, "out"))
					}
					var answer bytes.Buffer
					if err := printAnswer(&answer, db, b.text); err != nil {
						t.Fatalf("%s: %v\n%s", document, err, b.text)
					}
					printed = answer.String()
				}
			}
			if *update {
				must(t, os.WriteFile(filepath.Join(repository, document), []byte(made+text[end:]), 0o666))
			}
		})
	}
}

// elided is a line of an answer in place of lines that the document omits.
const elided = "\n...\n"

func elides(answer, printed string) bool {
	var pattern []string
	for _, part := range strings.Split(answer, elided) {
		pattern = append(pattern, regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`(?s)^` + strings.Join(pattern, `\n.*`) + `$`).MatchString(printed)
}

// neutral hides what differs from run to run.
func neutral(text string) string {
	text = regexp.MustCompile(`\d{8}T\d{6}Z`).ReplaceAllString(text, "<ID>")
	text = regexp.MustCompile(`\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\b`).ReplaceAllString(text, "<TIME>")
	text = regexp.MustCompile(`\d\d:\d\d:\d\d`).ReplaceAllString(text, "<CLOCK>")
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "<ADDR>")
	text = regexp.MustCompile(`\b[\d.,]+ (k|M)?B\b`).ReplaceAllString(text, "<SIZE>")
	// The number of bins of times varies.
	text = regexp.MustCompile(`\b(summary|examples) [\d,]+`).ReplaceAllString(text, "$1 <ROWS>")
	return regexp.MustCompile(`\b[\d.]+m?s\b`).ReplaceAllString(text, "<SECONDS>")
}

// freshClone copies the repository without generated files.
func freshClone(t *testing.T) string {
	t.Helper()
	clone := t.TempDir()
	must(t, filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(repository, path)
		if err != nil {
			return err
		}
		to := filepath.Join(clone, name)
		switch {
		case d.IsDir() && slices.Contains([]string{".git", "bin", "out"}, name):
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(to, 0o777)
		case !d.Type().IsRegular():
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.WriteFile(to, content, info.Mode())
	}))
	return clone
}

// An internet provides what a reader has and a test lacks: hosts on the web (a farm
// of the demo's), lists of them, a DuckDB shell (this program), and time to
// compile. Its programs come first in the PATH.
type internet struct {
	path, gopath string
}

// The commands that read the web get the address of the farm.
const robocensusShim = `#!/bin/sh
case "$1 $*" in
*--connect-to*) ;;
"run "*--warc*|"run "*--bodies*|"run "*--from-run*|"run "*--help*) ;;
"run "*--shard*) ;;
"run "*|"plan "*|"check "*https://*) set -- "$@" --connect-to %s --ca-file %s --timeout 5s --retries 0 ;;
esac
exec "$GOPATH/bin/robocensus" "$@"
`

// curl writes a list in the form of the requested one.
const curlShim = `#!/bin/sh
case "$*" in
*top-1m.csv.zip) cat %[1]s/tranco.zip ;;
*crux-top-lists*.csv.gz) gzip -c %[1]s/crux.csv ;;
*hyperlinkgraph*-ranks.txt.gz) gzip -c %[1]s/graph.tsv ;;
*) echo "curl: no such list: $*" >&2; exit 22 ;;
esac
`

// go installs the commands that TestMain has built, and runs this program in place
// of the one in this folder: a compiler would take minutes.
const goShim = `#!/bin/sh
case "$*" in
"install ./cmd/"*) cd "$2" && mkdir -p "$GOPATH/bin" && cp %[1]s/"${2##*/}" "$GOPATH/bin/" ;;
"run . "*) shift 2; AS_DUCKDB=1 exec %[2]s "$@" ;;
"env GOPATH") echo "$GOPATH" ;;
*) echo "go: not in this test: $*" >&2; exit 64 ;;
esac
`

const duckdbShim = "#!/bin/sh\nAS_DUCKDB=1 exec %s \"$@\"\n"

func newInternet(t *testing.T) *internet {
	t.Helper()
	dir := t.TempDir()
	w := &internet{path: filepath.Join(dir, "bin"), gopath: filepath.Join(dir, "go")}
	must(t, os.MkdirAll(w.path, 0o777))
	var tranco, crux, graph strings.Builder
	crux.WriteString("origin,rank\n")
	graph.WriteString("#harmonicc_pos\t#harmonicc_val\t#pr_pos\t#pr_val\t#host_rev\n")
	for i, host := range []string{"www.morningpost.example", "news.meridian.example", "bakery.example", "nobody.example"} {
		fmt.Fprintf(&tranco, "%d,%s\r\n", i+1, host)
		fmt.Fprintf(&crux, "https://%s,1000\n", host)
		labels := strings.Split(host, ".")
		slices.Reverse(labels)
		fmt.Fprintf(&graph, "%d\t9.5\t%d\t0.01\t%s\n", i+1, i+1, strings.Join(labels, "."))
	}
	write(t, filepath.Join(dir, "crux.csv"), crux.String())
	write(t, filepath.Join(dir, "graph.tsv"), graph.String())
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	list, err := z.Create("top-1m.csv")
	must(t, err)
	_, err = io.WriteString(list, tranco.String())
	must(t, errors.Join(err, z.Close()))
	write(t, filepath.Join(dir, "tranco.zip"), zipped.String())

	addresses, ca := filepath.Join(dir, "addr"), filepath.Join(dir, "ca.pem")
	farm := exec.Command(filepath.Join(bin, "robofarm"), "serve", "--dir", filepath.Join(repository,
		"testdata/demo/hosts"),
		"--https", "127.0.0.1:0", "--ca-out", ca, "--addr-file", addresses)
	farm.Stderr = os.Stderr
	must(t, farm.Start())
	t.Cleanup(func() {
		farm.Process.Signal(syscall.SIGTERM)
		farm.Wait()
	})
	var addr string
	for deadline := time.Now().Add(20 * time.Second); addr == ""; time.Sleep(time.Millisecond) {
		if text, err := os.ReadFile(addresses); err == nil {
			addr = strings.TrimPrefix(strings.TrimSpace(string(text)), "https://")
		}
		if time.Now().After(deadline) {
			t.Fatal("the farm does not answer within 20 seconds")
		}
	}
	self, err := os.Executable()
	must(t, err)
	for name, text := range map[string]string{
		"robocensus": fmt.Sprintf(robocensusShim, addr, ca),
		"go":         fmt.Sprintf(goShim, bin, self),
		"curl":       fmt.Sprintf(curlShim, dir),
		"duckdb":     fmt.Sprintf(duckdbShim, self),
	} {
		must(t, os.WriteFile(filepath.Join(w.path, name), []byte(text), 0o777))
	}
	return w
}

// environment returns the environment of a reader.
func (w *internet) environment() []string {
	return append(os.Environ(), "GOPATH="+w.gopath, "PATH="+w.path+":"+os.Getenv("PATH"), "LC_ALL=C", "NO_COLOR=1")
}

// A shell is the bash into which all commands of a document are pasted.
type shell struct {
	in      io.Writer
	out     *bufio.Reader // standard error goes to a file in the folder scripts
	scripts string
	pasted  int
}

func newShell(t *testing.T, dir string, w *internet) *shell {
	t.Helper()
	c := exec.Command("bash", "--norc")
	c.Dir, c.Env = dir, w.environment()
	in, err := c.StdinPipe()
	must(t, err)
	r, pipe, err := os.Pipe()
	must(t, err)
	s := &shell{out: bufio.NewReader(r), in: in, scripts: t.TempDir()}
	stderr, err := os.Create(filepath.Join(s.scripts, "stderr"))
	must(t, err)
	c.Stdout, c.Stderr = pipe, stderr
	must(t, errors.Join(c.Start(), stderr.Close()))
	must(t, pipe.Close())
	t.Cleanup(func() {
		in.Close()
		c.Wait()
		r.Close()
	})
	// Exit codes 1 and 2 are answers: a broken expectation, an agent that is shut
	// out, a policy that differs.
	fmt.Fprintln(in, `trap 'code=$?; [ $code -le 2 ] || { echo "exit code $code"; exit $code; }' ERR`)
	return s
}

const pasteEnd = "--- end of block ---"

// paste runs commands and returns what they print.
func (s *shell) paste(t *testing.T, text string) string {
	t.Helper()
	s.pasted++
	script := write(t, filepath.Join(s.scripts, fmt.Sprint(s.pasted)), text)
	fmt.Fprintf(s.in, ". %s </dev/null\necho '%s'\n", script, pasteEnd)
	var printed strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if line == pasteEnd+"\n" {
			return strings.TrimLeft(printed.String(), "\n")
		}
		printed.WriteString(line)
		if err != nil {
			stderr, _ := os.ReadFile(filepath.Join(s.scripts, "stderr"))
			t.Fatalf("a command of\n%sfails:\n%s%s", text, &printed, stderr)
		}
	}
}

// asDuckDB runs this program as main, or as the shell duckdb with the arguments
// that the documents use.
func asDuckDB(args []string) error {
	set := flag.NewFlagSet("duckdb", flag.ContinueOnError)
	views := set.String("init", "", "")
	text := set.String("c", "", "")
	file := set.String("f", "", "")
	if err := set.Parse(args); err != nil {
		return err
	}
	if *views == "" && set.NArg() == 2 {
		return query(os.Stdout, set.Arg(0), set.Arg(1))
	}
	if *views != "views.sql" || set.NArg() > 0 {
		return fmt.Errorf("want -init views.sql, got %q", args)
	}
	if *file != "" {
		content, err := os.ReadFile(*file)
		if err != nil {
			return err
		}
		*text = string(content)
	}
	if *text == "" { // a real shell would read the terminal now
		*text = "SELECT 1"
	}
	return query(os.Stdout, ".", *text)
}
