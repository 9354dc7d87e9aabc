package s3

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/robocensus/robocensus/sink/store"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// promises are what a store promises, wherever it lies.
var promises = []struct {
	name string
	test func(t *testing.T, s store.Store, again func() store.Store)
}{
	{"put has one winner", func(t *testing.T, s store.Store, again func() store.Store) {
		var writers [16]store.Store
		for i := range writers {
			writers[i] = again() // as separate processes have
		}
		for round := range 3 {
			name := fmt.Sprintf("record-%d.json", round)
			var won, winner atomic.Int32
			var all sync.WaitGroup
			for i, w := range writers {
				all.Go(func() {
					first, err := w.Put(name, bytes.Repeat([]byte{byte('a' + i)}, 1000))
					if err != nil {
						t.Error(err)
					}
					if first {
						won.Add(1)
						winner.Store(int32(i))
					}
				})
			}
			all.Wait()
			content, err := s.Read(name, 1000)
			if want := bytes.Repeat([]byte{byte('a' + winner.Load())}, 1000); err != nil || won.Load() != 1 ||
				!bytes.Equal(content, want) {
				t.Fatalf("%d writers won, the file has %.3q…, %v", won.Load(), content, err)
			}
		}
	}},
	{"put changes nothing that is there", func(t *testing.T, s store.Store, _ func() store.Store) {
		for _, content := range []string{"first", "second", "longer than the first"} {
			won, err := s.Put("name", []byte(content))
			if err != nil || won != (content == "first") {
				t.Errorf("put %s: %v, %v", content, won, err)
			}
			if got, err := s.Read("name", 100); err != nil || string(got) != "first" {
				t.Errorf("after %s: %q, %v", content, got, err)
			}
		}
		must(t, s.Remove("name"))
		if won, err := s.Put("name", nil); !won || err != nil {
			t.Errorf("after its removal: %v, %v", won, err)
		}
		if got, err := s.Read("name", 0); len(got) != 0 || err != nil {
			t.Errorf("an empty file: %q, %v", got, err)
		}
	}},
	{"stat", func(t *testing.T, s store.Store, _ func() store.Store) {
		before := time.Now()
		must(t, s.MakeFolder("folder/below"))
		_, err := s.Put("folder/below/file", []byte("12345"))
		must(t, err)
		for name, isFolder := range map[string]bool{".": true, "folder": true, "folder/below": true,
			"folder/below/file": false} {
			info, err := s.Stat(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if info.IsDir() != isFolder || info.Mode().IsRegular() == isFolder ||
				info.Name() != name[strings.LastIndex(name, "/")+1:] {
				t.Errorf("%s: %s %v", name, info.Name(), info.Mode())
			}
			if !isFolder && (info.Size() != 5 || info.ModTime().Sub(before).Abs() > time.Minute) {
				t.Errorf("%s: %d bytes of %v", name, info.Size(), info.ModTime())
			}
		}
		for _, name := range []string{"folder/bel", "none", "folder/below/file2", "folder/none/file"} {
			if _, err := s.Stat(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v", name, err)
			}
			if there, err := store.Exists(s, name); there || err != nil {
				t.Errorf("%s: %v, %v", name, there, err)
			}
		}
	}},
	{"list", func(t *testing.T, s store.Store, _ func() store.Store) {
		must(t, s.MakeFolder("run=r/b"))
		for _, name := range []string{"run=r/c", "run=r/a", "run=r/b/x", "run=r/b/y", "run=r2"} {
			_, err := s.Put(name, []byte(name))
			must(t, err)
		}
		list, err := s.List("run=r")
		if text := fmt.Sprint(list); err != nil || text != "[- a d b/ - c]" {
			t.Errorf("%s, %v", text, err)
		}
		if list, err := s.List("none"); len(list) != 0 || err != nil {
			t.Errorf("none: %v, %v", list, err)
		}
		if n := s.Size("run=r"); n != 7+7+9+9 {
			t.Errorf("%d bytes", n)
		}
	}},
	{"remove", func(t *testing.T, s store.Store, _ func() store.Store) {
		must(t, s.MakeFolder("folder/below"))
		for _, name := range []string{"folder/a", "folder/below/b", "folder2", "file"} {
			_, err := s.Put(name, []byte("x"))
			must(t, err)
		}
		must(t, s.Remove("none"))
		must(t, s.Remove("none/none"))
		must(t, s.RemoveAll("none"))
		must(t, s.RemoveAll("file"))
		must(t, s.RemoveAll("folder"))
		list, err := s.List(".")
		if text := fmt.Sprint(list); err != nil || text != "[- folder2]" {
			t.Errorf("left: %s, %v", text, err)
		}
	}},
	{"rename", func(t *testing.T, s store.Store, _ func() store.Store) {
		_, err := s.Put("old", []byte("x"))
		must(t, err)
		must(t, s.Rename("old", "new"))
		content, err := s.Read("new", 1)
		if _, e := s.Stat("old"); string(content) != "x" || err != nil || !errors.Is(e, fs.ErrNotExist) {
			t.Errorf("%q, %v; the old name: %v", content, err, e)
		}
		if err := s.Rename("old", "other"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("rename what is not there: %v", err)
		}
	}},
	{"replace", func(t *testing.T, s store.Store, _ func() store.Store) {
		for _, content := range []string{"one", "", "three"} {
			must(t, s.Replace("views.sql", ".", []byte(content)))
			if got, err := s.Read("views.sql", 5); err != nil || string(got) != content {
				t.Errorf("%q, %v", got, err)
			}
		}
	}},
	{"read", func(t *testing.T, s store.Store, _ func() store.Store) {
		_, err := s.Put("name", []byte("12345"))
		must(t, err)
		if _, err := s.Read("name", 4); err == nil || !strings.Contains(err.Error(), s.Path("name")) ||
			!strings.Contains(err.Error(), "has more than 4 bytes") {
			t.Errorf("too much: %v", err)
		}
		f, err := s.Open("name")
		must(t, err)
		defer f.Close()
		back := make([]byte, 2)
		if _, err := f.ReadAt(back, 3); err != nil || string(back) != "45" {
			t.Errorf("at 3: %q, %v", back, err)
		}
		if all, err := io.ReadAll(f); err != nil || string(all) != "12345" {
			t.Errorf("%q, %v", all, err)
		}
		if _, err := s.Read("none", 4); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), s.Path("none")) {
			t.Errorf("read what is not there: %v", err)
		}
		if _, err := s.Open("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open what is not there: %v", err)
		}
	}},
	{"large files", func(t *testing.T, s store.Store, _ func() store.Store) {
		content := make([]byte, 20<<20) // three parts of an upload
		rand.NewChaCha8([32]byte{}).Read(content)
		f, err := s.Create("part.parquet")
		must(t, err)
		_, err = io.Copy(f, bytes.NewReader(content))
		must(t, err)
		digest, err := f.Finish()
		must(t, err)
		if there, err := store.Exists(s, "part.parquet"); there || err != nil {
			t.Errorf("before it is published: %v, %v", there, err)
		}
		must(t, f.Publish())
		sum := sha256.Sum256(content)
		if want := (store.Digest{Bytes: 20 << 20, SHA256: hex.EncodeToString(sum[:])}); digest != want {
			t.Errorf("digest %v, want %v", digest, want)
		}
		back, err := store.OpenWritten(t.Context(), s, "part.parquet", digest)
		must(t, err)
		back.Close()
		digest.SHA256 = strings.Repeat("0", 64)
		if _, err := store.OpenWritten(t.Context(), s, "part.parquet", digest); !errors.Is(err, store.ErrOtherBytes) {
			t.Errorf("other bytes: %v", err)
		}
	}},
	{"discard", func(t *testing.T, s store.Store, _ func() store.Store) {
		for _, publish := range []bool{false, true} {
			f, err := s.Create("part.parquet")
			must(t, err)
			_, err = f.Write([]byte("x"))
			must(t, err)
			_, err = f.Finish()
			must(t, err)
			if publish {
				must(t, f.Publish())
			}
			f.Discard()
			if list, err := s.List("."); len(list) != 0 || err != nil {
				t.Errorf("published %v: left %v, %v", publish, list, err)
			}
		}
	}},
	{"scratch", func(t *testing.T, s store.Store, _ func() store.Store) {
		must(t, s.MakeFolder("folder"))
		c, err := s.Scratch("folder")
		must(t, err)
		_, err = c.WriteString("body")
		must(t, err)
		back := make([]byte, 4)
		if _, err := c.ReadAt(back, 0); err != nil || string(back) != "body" {
			t.Errorf("read back: %q, %v", back, err)
		}
		must(t, c.Close())
		if list, err := s.List("folder"); len(list) != 0 || err != nil {
			t.Errorf("left: %v, %v", list, err)
		}
	}},
	{"names of runs", func(t *testing.T, s store.Store, _ func() store.Store) {
		for _, id := range []string{"a.b_c-", "A..B", "_", "0-", "x.parquet", strings.Repeat("z", 100)} {
			folder := "fetches/run=" + id
			must(t, s.MakeFolder(folder))
			_, err := s.Put(folder+"/part-1.parquet", []byte(id))
			must(t, err)
			content, err := s.Read(folder+"/part-1.parquet", 100)
			if list, e := s.List(folder); string(content) != id || err != nil || e != nil ||
				fmt.Sprint(list) != "[- part-1.parquet]" {
				t.Errorf("%s: %q, %v, %v, %v", id, content, err, list, e)
			}
		}
		if list, err := s.List("fetches"); len(list) != 6 || err != nil {
			t.Errorf("%v, %v", list, err)
		}
	}},
}

func TestStoresKeepTheirPromises(t *testing.T) {
	t.Parallel()
	for i, p := range promises {
		for where, dir := range map[string]string{
			"folder": t.TempDir(),
			"bucket": bucket(t, fmt.Sprintf("promise-%d", i)) + "/some/prefix",
		} {
			t.Run(p.name+"/"+where, func(t *testing.T) {
				t.Parallel()
				open := func() store.Store {
					s, err := store.Create(t.Context(), dir)
					must(t, err)
					t.Cleanup(func() { s.Close() })
					return s
				}
				p.test(t, open(), open)
			})
		}
	}
}

// A list has more than one page, which has 1,000 names at most.
func TestLongLists(t *testing.T) {
	t.Parallel()
	s, err := store.Create(t.Context(), bucket(t, "long-lists"))
	must(t, err)
	defer s.Close()
	const n = 1003
	must(t, os.MkdirAll(server.Dir+"/long-lists/run/below", 0o777))
	for i := range n {
		must(t, os.WriteFile(fmt.Sprintf("%s/long-lists/run/%05d", server.Dir, i), []byte("x"), 0o666))
	}
	must(t, os.WriteFile(server.Dir+"/long-lists/run/below/last", []byte("x"), 0o666))
	list, err := s.List("run")
	must(t, err)
	if len(list) != n+1 || list[n-1].Name() != fmt.Sprintf("%05d", n-1) || !list[n].IsDir() {
		t.Errorf("%d names", len(list))
	}
	if size := s.Size("run"); size != n+1 {
		t.Errorf("%d bytes", size)
	}
	must(t, s.RemoveAll("run"))
	if list, err := s.List("."); len(list) != 0 || err != nil {
		t.Errorf("left: %v, %v", list, err)
	}
}

// Of sixteen processes that put an object of one name one wins.
func TestPutHasOneWinnerAmongProcesses(t *testing.T) {
	t.Parallel()
	url := bucket(t, "processes")
	const rounds = 5
	var stdin [16]io.Writer
	var stdout [16]*bufio.Scanner
	for i := range stdin {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "PUT_TO="+url)
		c.Stderr = os.Stderr
		in, err := c.StdinPipe()
		must(t, err)
		out, err := c.StdoutPipe()
		must(t, err)
		must(t, c.Start())
		defer func() { in.Close(); c.Wait() }()
		stdin[i], stdout[i] = in, bufio.NewScanner(out)
	}
	answers := func() (won int) {
		for i, out := range stdout {
			if !out.Scan() {
				t.Fatalf("process %d ended", i)
			}
			if out.Text() == "true" {
				won++
			}
		}
		return won
	}
	answers() // all are ready
	for round := range rounds {
		for _, in := range stdin {
			fmt.Fprintf(in, "record-%d\n", round)
		}
		if won := answers(); won != 1 {
			t.Errorf("%d processes won", won)
		}
	}
}

func TestNoSuchBucket(t *testing.T) {
	t.Parallel()
	for _, open := range []func(context.Context, string) (store.Store, error){store.Open, store.Create} {
		if _, err := open(t.Context(), "s3://no-such-bucket/folder"); err == nil || !strings.Contains(err.Error(),
			"s3://no-such-bucket/folder: there is no such bucket") || store.FaultOf(err) != store.OfSettings {
			t.Errorf("%v", err)
		}
	}
	for _, url := range []string{"s3://", "s3:///folder", "s3://bucket?region=x", "s3://user@bucket/", "http3://x"} {
		if s, err := store.Open(t.Context(), url); err == nil {
			t.Errorf("%s: %v", url, s.Path(""))
		}
	}
}

// A wrong key is no reason to try again.
func TestWrongKey(t *testing.T) {
	for _, wrong := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} {
		t.Run(wrong, func(t *testing.T) {
			url := bucket(t, "wrong-"+strings.ToLower(wrong[4:7]))
			t.Setenv(wrong, "wrong")
			began := time.Now()
			_, err := store.Create(t.Context(), url)
			if store.FaultOf(err) != store.OfSettings || !strings.Contains(err.Error(), "access key") &&
				!strings.Contains(err.Error(), "SignatureDoesNotMatch") {
				t.Errorf("%v", err)
			}
			if took := time.Since(began); took > 3*time.Second {
				t.Errorf("it takes %v", took)
			}
		})
	}
	t.Run("read", func(t *testing.T) {
		url := bucket(t, "wrong-read")
		good, err := store.Create(t.Context(), url)
		must(t, err)
		defer good.Close()
		_, err = good.Put("name", []byte("x"))
		must(t, err)
		t.Setenv("AWS_SECRET_ACCESS_KEY", "wrong")
		if _, err := remote.ReadAll(t.Context(), url+"/name", 10); store.FaultOf(err) != store.OfSettings {
			t.Errorf("%v", err)
		}
	})
}

// A store that is down is one that may come back, and ends nobody's patience before
// the context.
func TestAStoreThatIsDown(t *testing.T) {
	t.Parallel()
	url := bucket(t, "down")
	s, err := store.Create(t.Context(), url)
	must(t, err)
	defer s.Close()
	faulty.takeDown("down")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	began := time.Now()
	if _, err := store.During(ctx, s).Read("name", 1); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("while the context lasts: %v", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it ends %v after its context", took)
	}
	if testing.Short() {
		t.Skip("the other half takes as long as the patience of the client")
	}
	if _, err := s.Read("name", 1); !errors.Is(err, remote.ErrTransfer) {
		t.Errorf("%v", err)
	}
	if won, err := s.Put("name", []byte("x")); won || !errors.Is(err, remote.ErrTransfer) ||
		!errors.Is(err, store.ErrInDoubt) {
		t.Errorf("put: %v, %v; want doubt", won, err)
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("it takes %v", took)
	}
}
