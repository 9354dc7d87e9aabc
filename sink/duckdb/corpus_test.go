package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const (
	corpusFile = "../../../shared/corpus/robots-real.tar.gz"
	ranksFile  = "../../../shared/corpus/hosts-ranked.csv"
	// sizeLimit is the number of bytes of a file that the census reads.
	sizeLimit = 512000
)

// census is a run of the command over files that the farm serves.
type census struct {
	dir   string
	files map[string][]byte // by host, with the port unless it is 80
}

// theCorpus is made once for all tests; TestMain removes its folder.
var theCorpus = sync.OnceValues(func() (*census, error) {
	files, err := corpusFiles()
	if err != nil {
		return nil, err
	}
	// The list has all hosts of the corpus with their ranks, and the ranked hosts
	// without a file.
	ranks, err := os.ReadFile(ranksFile)
	if err != nil {
		return nil, err
	}
	hosts := bytes.NewBuffer(ranks)
	for _, host := range slices.Sorted(maps.Keys(files)) {
		if !bytes.Contains(ranks, []byte(","+host+"\n")) {
			fmt.Fprintf(hosts, ",%s\n", host)
		}
	}
	if !testing.Short() {
		return survey("corpus", corpusFile, files, hosts.Bytes())
	}
	return sample(files, hosts.String())
})

// sample runs a census of every tenth host of a list.
func sample(files map[string][]byte, list string) (*census, error) {
	dir := filepath.Join(scratch, "sample")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	some, hosts := make(map[string][]byte), ""
	for i, line := range strings.SplitAfter(list, "\n") {
		_, host, _ := strings.Cut(strings.TrimSpace(line), ",")
		if i%10 != 0 && i > 0 {
			continue
		}
		hosts += line
		if body, ok := files[host]; ok {
			some[host] = body
			if err := os.WriteFile(filepath.Join(dir, strings.Replace(host, ":", "_", 1)), body, 0o666); err != nil {
				return nil, err
			}
		}
	}
	return survey("corpus", dir, some, []byte(hosts))
}

// corpusDatabase skips the test if there is no corpus.
func corpusDatabase(t *testing.T) (*census, *sql.DB) {
	t.Helper()
	if _, err := os.Stat(corpusFile); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the corpus of real files is not beside this repository")
	}
	c, err := theCorpus()
	if err != nil {
		t.Fatal(err)
	}
	return c, c.database(t)
}

func (c *census) database(t *testing.T) *sql.DB {
	t.Helper()
	return quick(t, c.dir)
}

func corpusFiles() (map[string][]byte, error) {
	f, err := os.Open(corpusFile)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		files[strings.Replace(path.Base(h.Name), "_", ":", 1)] = body[:min(len(body), sizeLimit)]
	}
}

// survey serves a folder or tar of files with the farm, runs a census of a list of
// hosts, and keeps the tables in the folder scratch.
func survey(name, source string, files map[string][]byte, hosts []byte) (*census, error) {
	c := &census{dir: filepath.Join(scratch, name), files: files}
	list := c.dir + ".csv"
	if err := os.WriteFile(list, hosts, 0o666); err != nil {
		return nil, err
	}
	address, stop, err := serveFiles(source)
	if err != nil {
		return nil, err
	}
	defer stop()
	run := exec.Command(filepath.Join(bin, "robocensus"), "run", "--hosts", list, "--schemes", "http", "--connect-to",
		address, "--out", c.dir, "--run", name,
		"--tables", "fetches,groups,rules,sitemaps,lines,signals,preferences,templates,agents,policies,summary,examples",
		"--progress", "none")
	if text, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("robocensus run: %w\n%s", err, text)
	}
	return c, nil
}

// serveFiles serves a folder or tar of files with the farm until stop is called.
func serveFiles(source string) (address string, stop func(), err error) {
	farm := exec.Command(filepath.Join(bin, "robofarm"), "serve", "--dir", source, "--http", "127.0.0.1:0")
	stdout, err := farm.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := farm.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		farm.Process.Signal(os.Interrupt)
		farm.Wait()
	}
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("robofarm serve: %w", err)
	}
	go io.Copy(io.Discard, stdout)
	_, address, _ = strings.Cut(strings.TrimSpace(said), "://")
	return address, stop, nil
}
