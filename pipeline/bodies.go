package pipeline

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/robocensus/robocensus/configs/userfile"
	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink"
)

// bodyVolume is the volume of --bodies: a folder or tar of robots.txt files,
// each named by its authority. A name cannot hold a colon everywhere, so
// www.hrs.de_443 is port 443. The scheme is that of the port where it is a
// default one, else the first of --schemes.
func (n *census) bodyVolume(name string, limit int) (volume, error) {
	info, err := os.Stat(name)
	if err != nil {
		return volume{}, &userfile.Error{Path: name, Err: errors.Unwrap(err)}
	}
	take := func(ctx context.Context, file string, modified time.Time, body []byte, emit func(*job) error) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		base := path.Base(file)
		if strings.HasPrefix(base, ".") {
			return nil
		}
		o, err := n.originOfFile(base)
		if err != nil {
			return n.rejects.body(file, rejection(err))
		}
		target, ok := n.wanted(o)
		if !ok {
			n.skipped.add(Skipped{OtherHosts: 1})
			return nil
		}
		target.Input = base
		c := &fetch.Capture{Origin: o, Start: modified, Hops: []robots.Hop{{URL: o.RobotsURL(), Status: 200}}}
		if c.Body = body; len(body) > limit {
			c.Body, c.Truncated = body[:limit], true
		}
		return emit(&job{target: target, capture: c, stored: &stored{source: "body", assumed: true}})
	}
	if info.IsDir() {
		in, err := identifyFolder(name)
		return volume{input: in, read: func(ctx context.Context, emit func(*job) error) error {
			return n.readFolder(name, limit, func(file string, modified time.Time, body []byte) error {
				return take(ctx, file, modified, body, emit)
			})
		}}, err
	}
	in, err := identify("bodies", name)
	return volume{input: in, read: func(ctx context.Context, emit func(*job) error) error {
		return n.readTar(ctx, name, limit, func(file string, modified time.Time, body []byte) error {
			return take(ctx, file, modified, body, emit)
		})
	}}, err
}

// identifyFolder tells a folder by the names, sizes and times of its files.
func identifyFolder(name string) (sink.Input, error) {
	in := sink.Input{Role: "bodies", Path: name}
	sum := sha256.New()
	root := os.DirFS(name)
	err := fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := fs.Stat(root, file) // of the file that a link leads to
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
	in.Ends = hex.EncodeToString(sum.Sum(nil))
	return in, nil
}

// originOfFile is the origin that a file's name stands for.
func (n *census) originOfFile(base string) (fetch.Origin, error) {
	i := strings.LastIndexByte(base, '_')
	if i < 0 || base[i+1:] == "" || strings.Trim(base[i+1:], "0123456789") != "" {
		o, _, err := fetch.Parse(base, n.Schemes[0])
		return o, err
	}
	host, port := base[:i], base[i+1:]
	if strings.Contains(host, ":") && !strings.HasPrefix(host, "[") {
		host = "[" + host + "]" // or the port would be part of the address
	}
	for _, scheme := range []string{"http", "https"} {
		if o, _, err := fetch.Parse(host+":"+port, scheme); err == nil && o.Port == fetch.DefaultPort(scheme) {
			return o, nil
		}
	}
	o, _, err := fetch.Parse(host+":"+port, n.Schemes[0])
	return o, err
}

// notFile is why a folder's or archive's entry is rejected that has no bytes of
// its own.
const notFile = "not_a_file"

// readFolder reads the files below a folder, in the order of their names. Links
// to files are files; what else is neither file nor folder, and links that lead
// to none, are rejected.
func (n *census) readFolder(name string, limit int, take func(file string, modified time.Time, body []byte) error) error {
	root := os.DirFS(name)
	return fs.WalkDir(root, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return &userfile.Error{Path: name, Err: err}
		}
		if entry.IsDir() {
			return nil
		}
		info, err := fs.Stat(root, file)
		if err != nil || !info.Mode().IsRegular() {
			return n.rejects.body(file, notFile)
		}
		f, err := root.Open(file)
		if err != nil {
			return &userfile.Error{Path: name, Err: err}
		}
		defer f.Close()
		body, err := readBody(f, limit)
		if err != nil {
			return &userfile.Error{Path: name, Err: fmt.Errorf("%s: %w", file, err)}
		}
		return take(file, info.ModTime(), body)
	})
}

// readTar reads the files of a tar, plain or compressed, in their order. Links
// are rejected: a tar is read but once.
func (n *census) readTar(ctx context.Context, name string, limit int, take func(file string, modified time.Time, body []byte) error) error {
	f, closed, err := openStored(ctx, name)
	if err != nil {
		return err
	}
	defer closed()
	plain, done, err := decompress(f)
	if err != nil {
		return &userfile.Error{Path: name, Err: err}
	}
	defer done()
	entries := tar.NewReader(plain)
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
			if err := n.rejects.body(entry.Name, notFile); err != nil {
				return err
			}
			continue
		}
		body, err := readBody(entries, limit)
		if err != nil {
			return &userfile.Error{Path: name, Err: fmt.Errorf("%s: %w", sink.TextString(entry.Name), err)}
		}
		if err := take(entry.Name, entry.ModTime, body); err != nil {
			return err
		}
	}
}

// readBody reads one byte more than the limit, by which it shows that there
// was more.
func readBody(r io.Reader, limit int) ([]byte, error) {
	var b bytes.Buffer
	_, err := b.ReadFrom(io.LimitReader(r, int64(limit)+1))
	return b.Bytes(), err
}
