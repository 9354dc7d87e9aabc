package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/robocensus/robocensus/sink"
)

// A data set judged again is the same, from its own bodies, from a folder and from a
// tar; a byte that changed is found, in a file and in a body.
func TestReproduce_NoRace(t *testing.T) {
	t.Parallel()
	dir, folder := published(t)
	text := call(t, 0, "reproduce", folder)
	if n := strings.Count(text, ": the same, "); n != len(sink.TableNames) || !strings.HasSuffix(text, "the same\n") {
		t.Errorf("%d tables are the same:\n%s", n, text)
	}

	part := filepath.Join(folder, "bodies", "run=r", "part-0000000000.parquet")
	content, err := os.ReadFile(part)
	must(t, err)
	content[len(content)/2] ^= 1
	must(t, os.WriteFile(part, content, 0o666))
	if text := call(t, 65, "reproduce", folder); !strings.Contains(text, "part-0000000000.parquet is damaged") {
		t.Errorf("a changed byte: %s", text)
	}
	must(t, os.Remove(part))
	call(t, 65, "reproduce", folder)
	call(t, 65, "reproduce", dir)

	less := filepath.Join(t.TempDir(), "less")
	publishTo(t, dir, less, "--without", "bodies,fetches.remote_address")
	call(t, 64, "reproduce", less)
	bodies, archive, unique := dumpBodies(t, dir)
	for _, given := range []string{bodies, archive} {
		text := call(t, 0, "reproduce", less, "--bodies", given)
		if !strings.Contains(text, "run r: summary: the same") || !strings.Contains(text, "not compared: address_block") {
			t.Errorf("--bodies %s:\n%s", given, text)
		}
	}
	body, err := os.ReadFile(unique)
	must(t, err)
	body[bytes.Index(body, []byte("llow: /"))] = 'x'
	must(t, os.WriteFile(unique, body, 0o666))
	if text := call(t, 1, "reproduce", less, "--bodies", bodies); !strings.Contains(text, "run r: fetches: different") || !strings.Contains(text, "run r: rules: different") {
		t.Errorf("a changed body:\n%s", text)
	}
	must(t, os.Remove(unique))
	call(t, 65, "reproduce", less, "--bodies", bodies)

	hashed := filepath.Join(t.TempDir(), "hashed")
	publishTo(t, dir, hashed, "--hash-hosts")
	call(t, 64, "reproduce", hashed)
}

// dumpBodies writes the bodies of run r as files named by their hosts, to a folder and
// a tar, and returns the name of one that no other host has, with a rule.
func dumpBodies(t *testing.T, dir string) (folder, archive, unique string) {
	t.Helper()
	texts, hosts := make(map[string][]byte), make(map[string]int)
	all, err := parquet.ReadFile[sink.Body](filepath.Join(dir, "bodies", "run=r", "part-0000000000.parquet"))
	must(t, err)
	for _, b := range all {
		texts[b.ContentDigest] = b.Body
	}
	rows, err := parquet.ReadFile[sink.Fetch](filepath.Join(dir, "fetches", "run=r", "part-0000000000.parquet"))
	must(t, err)
	for _, row := range rows {
		if row.ContentDigest != nil {
			hosts[*row.ContentDigest]++
		}
	}
	folder, archive = t.TempDir(), filepath.Join(t.TempDir(), "bodies.tar")
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	for _, row := range rows {
		if row.ContentDigest == nil {
			continue
		}
		body := texts[*row.ContentDigest]
		name := fmt.Sprintf("%s_%d", row.Host, row.Port)
		must(t, os.WriteFile(filepath.Join(folder, name), body, 0o666))
		must(t, w.WriteHeader(&tar.Header{Name: "all/" + name, Mode: 0o666, Size: int64(len(body)), Typeflag: tar.TypeReg}))
		_, err := w.Write(body)
		must(t, err)
		if hosts[*row.ContentDigest] == 1 && row.Outcome == "conditional_allow" && row.Rules > 0 && bytes.Contains(body, []byte("llow: /")) {
			unique = filepath.Join(folder, name)
		}
	}
	must(t, w.Close())
	must(t, os.WriteFile(archive, packed.Bytes(), 0o666))
	return folder, archive, unique
}
