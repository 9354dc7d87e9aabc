package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/pipeline/source/rejected"
	"github.com/robocensus/robocensus/pipeline/target"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/sink"
	"github.com/robocensus/robocensus/sink/schema"
	"github.com/robocensus/robocensus/sink/store/remote"
)

// openBodies adds the volume of --bodies: a folder or tar of robots.txt files, each
// named by its authority, or called robots.txt in a folder that is. Not every file
// system allows a colon in a name, so www.hrs.de_443 stands for port 443. A default
// port decides the scheme; otherwise it is the first of --schemes.
func (s *Source) openBodies(ctx context.Context) error {
	name, isFolder := s.config.Bodies, false
	if !remote.IsURL(name) {
		info, err := os.Stat(name)
		if err != nil {
			return &userfile.Error{Path: remote.Name(name), Err: errors.Unwrap(err)}
		}
		isFolder = info.IsDir()
	}
	identified, read := input.Identify, s.readTar
	if isFolder {
		identified, read = identifyFolder, s.readFolder
	}
	in, err := identified(ctx, "bodies", name)
	if err != nil {
		return err
	}
	v := s.add(in, func(ctx context.Context, emit func(target.Target) error) error {
		return read(ctx, name, func(file storedFile) error { return s.takeBody(file, emit) })
	})
	v.mixed = true
	s.number()
	return nil
}

// storedFile is a file of --bodies. Its content is read only if its host is wanted, and in
// the shard.
type storedFile struct {
	name     string // with slashes
	modified time.Time
	in       string // the folder or tar, for errors
	open     func() (io.ReadCloser, error)
}

// read reads the content, at most one byte more than the limit.
func (f *storedFile) read(limit int) ([]byte, error) {
	in, err := f.open()
	if err != nil {
		return nil, &userfile.Error{Path: f.in, Err: err}
	}
	defer in.Close()
	body, err := readBody(in, limit)
	if err != nil {
		return nil, &userfile.Error{Path: f.in, Err: fmt.Errorf("%s: %w", schema.TextString(f.name), err)}
	}
	return body, nil
}

// takeBody emits the target of a file, unless its name begins with a dot.
func (s *Source) takeBody(file storedFile, emit func(target.Target) error) error {
	if strings.HasPrefix(path.Base(file.name), ".") {
		return nil
	}
	name := userfile.HostName(file.name)
	o, err := originOfFile(name, s.config.Schemes[0])
	if err != nil {
		return s.rejectBody(file.name, rejected.ReasonOf(err))
	}
	t, ok := s.wantedOfAll(o)
	if !ok {
		return nil
	}
	var body []byte
	if s.config.Shard.Has(o.Host) { // otherwise the target only counts
		if body, err = file.read(s.config.MaxBody); err != nil {
			return err
		}
	}
	c := &fetch.Capture{Origin: o, Start: file.modified, Hops: []answer.Hop{{URL: o.RobotsURL(), Status: 200}}}
	if limit := s.config.MaxBody; len(body) > limit {
		body, c.Truncated = body[:limit], true
	}
	c.Body, c.Challenge = body, s.config.Challenges.Find(http.StatusOK, http.Header(nil).Values, body)
	t.Input, t.Capture, t.Stored = name, c, &target.Stored{Source: "body", Assumed: true}
	return emit(t)
}

// identifyFolder identifies a folder by the names, sizes and times of its files.
func identifyFolder(_ context.Context, role, name string) (sink.Input, error) {
	in := sink.Input{Role: role, Path: name}
	sum := sha256.New()
	root := os.DirFS(name)
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := fs.Stat(root, file) // follows links
		if err != nil || !info.Mode().IsRegular() {
			_, err = fmt.Fprintf(sum, "%q none\n", file)
			return err
		}
		in.Bytes += info.Size()
		_, err = fmt.Fprintf(sum, "%q %d %d\n", file, info.Size(), info.ModTime().UnixNano())
		return err
	})
	if err != nil {
		return in, &userfile.Error{Path: name, Err: err}
	}
	in.EndsSHA256 = hex.EncodeToString(sum.Sum(nil))
	return in, nil
}

// extensions are endings of files that are not top-level domains.
var extensions = []string{"txt", "html", "htm", "json", "jsonl", "csv", "tsv", "xml", "yaml", "yml", "log", "bak", "old", "orig", "tmp", "gz", "zst", "warc", "parquet", "sha256"}

var errNotHost = errors.New("the file is not named by a host; call it example.com, or example.com/robots.txt")

// isNotice reports whether a name is like README.md: md is a top-level domain too, whose
// hosts nobody writes in capitals.
func isNotice(name string) bool {
	stem, ok := strings.CutSuffix(name, ".md")
	return ok && stem == strings.ToUpper(stem) && stem != strings.ToLower(stem)
}

// originOfFile returns the origin that the name of a file or folder stands for; its
// scheme is first unless the port is a default one.
//
// Not every file in a folder is named by a host: README would be a host without a dot,
// and robots.txt one with the top-level domain txt.
func originOfFile(name, first string) (fetch.Origin, error) {
	i := strings.LastIndexByte(name, '_')
	hasPort := i >= 0 && name[i+1:] != "" && strings.Trim(name[i+1:], "0123456789") == ""
	if dot := strings.LastIndexByte(name, '.'); !hasPort && !strings.ContainsAny(name, ":[") {
		if dot < 0 && !strings.EqualFold(name, "localhost") {
			return fetch.Origin{}, errNotHost
		}
		if slices.Contains(extensions, strings.ToLower(name[dot+1:])) || isNotice(name) {
			return fetch.Origin{}, errNotHost
		}
	}
	if !hasPort {
		o, _, err := fetch.Parse(name, first)
		return o, err
	}
	host, port := name[:i], name[i+1:]
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]" // otherwise the port would be part of the address
	}
	for _, scheme := range []string{"http", "https"} {
		if o, _, err := fetch.Parse(host+":"+port, scheme); err == nil && o.Port == fetch.DefaultPort(scheme) {
			return o, nil
		}
	}
	o, _, err := fetch.Parse(host+":"+port, first)
	return o, err
}

// notFile is the reason in rejected.csv for an entry that is not a regular file.
const notFile = "not_a_file"

// readFolder reads the files below a folder, in the order of their names. It
// follows links to files; other links and special files are rejected.
func (s *Source) readFolder(ctx context.Context, name string, take func(storedFile) error) error {
	root := os.DirFS(name)
	return fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return &userfile.Error{Path: name, Err: err}
		}
		if entry.IsDir() {
			return ctx.Err()
		}
		info, err := fs.Stat(root, file)
		if err != nil || !info.Mode().IsRegular() {
			return s.rejectBody(file, notFile)
		}
		return take(storedFile{file, info.ModTime(), name, func() (io.ReadCloser, error) { return root.Open(file) }})
	})
}

// readTar reads the files of a tar, plain or compressed, in their order. Links are
// rejected: a tar is read only once.
func (s *Source) readTar(ctx context.Context, name string, take func(storedFile) error) error {
	f, closed, err := input.Open(ctx, name)
	if err != nil {
		return err
	}
	defer closed()
	name = remote.Name(name)
	plain, done, err := input.Decompress(f)
	if err != nil {
		return &userfile.Error{Path: name, Err: err}
	}
	defer done()
	b := bufio.NewReaderSize(plain, 1<<18)
	head, _ := b.Peek(userfile.FormatHead) // tar returns its error
	if err := userfile.Format(head); err != nil && !userfile.IsTar(head) {
		return &userfile.Error{Path: name, Err: err}
	}
	entries := tar.NewReader(b)
	for {
		entry, err := entries.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &userfile.Error{Path: name, Err: fmt.Errorf("cannot be read as a tar: %w", err)}
		}
		switch entry.Typeflag {
		case tar.TypeReg:
		case tar.TypeDir, tar.TypeXGlobalHeader:
			continue
		default:
			if err := s.rejectBody(entry.Name, notFile); err != nil {
				return err
			}
			continue
		}
		content := func() (io.ReadCloser, error) { return io.NopCloser(entries), nil }
		if err := take(storedFile{entry.Name, entry.ModTime, name, content}); err != nil {
			return err
		}
	}
}

// readBody reads at most one byte more than the limit, which shows that a body is
// too long.
func readBody(r io.Reader, limit int) ([]byte, error) {
	var b bytes.Buffer
	_, err := b.ReadFrom(io.LimitReader(r, int64(limit)+1))
	return b.Bytes(), err
}

// rejectBody rejects a file of bodies.
func (s *Source) rejectBody(file, reason string) error {
	if !s.config.Shard.IsFirst() {
		return nil
	}
	return s.rejects.Line(0, file, reason, "bodies")
}

// wantedOfAll is [Source.wanted] for a volume with the targets of all shards. Each
// shard counts what it skips of its own.
func (s *Source) wantedOfAll(o fetch.Origin) (t target.Target, ok bool) {
	var skipped rejected.Skipped
	if t, ok = s.wanted(o, &skipped); !ok && s.config.Shard.Has(o.Host) {
		s.rejects.Skip(skipped)
	}
	return t, ok
}
