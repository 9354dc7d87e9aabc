package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/robocensus/robocensus/sink/store/internal/storetest"
	"github.com/robocensus/robocensus/sink/store/remote"
)

func TestFaultOf(t *testing.T) {
	s, dir := newStore(t)
	must(t, os.Mkdir(filepath.Join(dir, "folder"), 0o777))
	must(t, os.Symlink("round", filepath.Join(dir, "round")))
	must(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("content"), 0o666))
	read := func(name string) error { _, err := s.Read(name, 3); return err }
	written := func(d Digest) error { _, err := OpenWritten(t.Context(), s, "file", d); return err }
	system := func(err syscall.Errno) error {
		return fmt.Errorf("look for runs: %w", &fs.PathError{Op: "open", Path: "part", Err: err})
	}
	for what, c := range map[string]struct {
		err  error
		want Fault
	}{
		"none": {nil, OfData}, "missing": {read("missing"), OfData}, "a folder": {read("folder"), OfData},
		"a link in a circle": {read("round"), OfData},
		"below a file":       {read("file/below"), OfData}, "a link that leads out": {read("out/x"), OfData},
		"too long":    {read("file"), OfData},
		"other bytes": {written(Digest{7, "0"}), OfData}, "short": {written(Digest{8, "0"}), OfData},
		"undecodable":                {errors.New("dict eof exception"), OfData},
		"replaced while it was read": {remote.ErrChanged, OfData},
		"descriptors":                {system(syscall.EMFILE), OfStore}, "the machine's descriptors": {
			system(syscall.ENFILE), OfStore}, "a bad disk": {system(syscall.EIO), OfStore},
		"a full disk": {system(syscall.ENOSPC), OfStore}, "permission": {system(syscall.EACCES), OfStore},
		"a lost mount": {system(syscall.ESTALE), OfStore},
		"Ctrl-C":       {context.Canceled, OfStore}, "a time limit": {context.DeadlineExceeded, OfStore},
		"a store that throttles": {fmt.Errorf("%w: 503", remote.ErrTransfer), OfStore}, "a full scratch folder": {
			fmt.Errorf("%w: x", remote.ErrScratch), OfStore},
		"a scheme": {remote.ErrScheme, OfSettings}, "a URL": {CheckName("ftp://x"), OfSettings},
	} {
		if got := FaultOf(c.err); got != c.want || what != "none" && c.err == nil {
			t.Errorf("%s: %v is the fault %d, want %d", what, c.err, got, c.want)
		}
	}
}

// A store that refuses a key, or has no such bucket, is no store that may answer again,
// and an object that is missing is neither.
func TestFaultsOfAnObjectStore(t *testing.T) {
	for code, row := range map[string]struct {
		status int
		want   Fault
	}{
		"AccessDenied": {403, OfSettings}, "InvalidAccessKeyId": {403, OfSettings}, "SignatureDoesNotMatch": {
			403, OfSettings}, "NoSuchBucket": {404, OfSettings},
		"InvalidBucketName": {400, OfSettings}, "NoSuchKey": {404, OfData},
	} {
		asked := 0
		url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("list-type") {
				fmt.Fprint(w, "<ListBucketResult/>")
				return
			}
			asked++
			w.WriteHeader(row.status)
			fmt.Fprintf(w, "<Error><Code>%s</Code><Message>no</Message></Error>", code)
		})
		s, err := Open(t.Context(), url)
		must(t, err)
		_, err = s.Read("plan.json", 10)
		if got := FaultOf(err); err == nil || got != row.want || asked != 1 {
			t.Errorf("%s: %v is the fault %d, want %d; asked %d times", code, err, got, row.want, asked)
		}
		must(t, s.Close())
	}
	url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, "<Error><Code>NoSuchBucket</Code></Error>")
	})
	if _, err := Open(t.Context(), url); FaultOf(err) != OfSettings || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such bucket: %v", err)
	}
}

// A key that has expired is renewed, and a clock that is wrong is set.
func TestARefusalThatPasses(t *testing.T) {
	for _, code := range []string{"ExpiredToken", "RequestTimeTooSkewed"} {
		asked := 0
		url := storetest.Bucket(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("list-type") {
				fmt.Fprint(w, "<ListBucketResult/>")
				return
			}
			if asked++; asked == 1 {
				w.WriteHeader(http.StatusBadRequest)
				fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
				return
			}
			fmt.Fprint(w, "{}")
		})
		s, err := Open(t.Context(), url)
		must(t, err)
		if text, err := s.Read("plan.json", 10); string(text) != "{}" || err != nil {
			t.Errorf("%s: %q, %v", code, text, err)
		}
		must(t, s.Close())
	}
}

// What is read of written files is counted, for who asks.
func TestBytesAreCounted(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "part"), make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	ctx := Counted(t.Context(), &read)
	digest, err := DigestOfFile(ctx, filepath.Join(dir, "part"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DigestOfFile(t.Context(), filepath.Join(dir, "part")); err != nil {
		t.Fatal(err)
	}
	if read.Load() != digest.Bytes || digest.Bytes != 1<<20 {
		t.Errorf("%d bytes counted, %d read", read.Load(), digest.Bytes)
	}
}
