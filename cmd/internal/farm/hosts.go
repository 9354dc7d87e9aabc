package farm

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/robocensus/robocensus/configs/userfile"
)

// Hosts holds robots.txt bodies by host name: lower case, an IDN in punycode,
// an IPv6 address without brackets. A name that ends in an underscore and a
// port, such as "example.com_8443", answers for that port alone and takes
// precedence there over the bare name.
type Hosts map[string][]byte

// Load reads a folder, tar or tar.gz with one file per host, named by the host, or
// called robots.txt in a folder named by the host. It ignores files whose name begins
// with a dot. Two files for one host are an error. All bodies stay in memory.
func Load(name string) (Hosts, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	if info.IsDir() {
		return LoadFS(os.DirFS(name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	defer f.Close()
	hosts, err := loadTar(f)
	if err != nil {
		return nil, fmt.Errorf("read hosts: %s: %w", name, err)
	}
	return hosts, nil
}

// LoadFS is like [Load] but reads the files of fsys.
func LoadFS(fsys fs.FS) (Hosts, error) {
	hosts := Hosts{}
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		body, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		return hosts.add(name, body)
	})
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	return hosts, nil
}

func loadTar(r io.Reader) (Hosts, error) {
	in := bufio.NewReader(r)
	if magic, _ := in.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(in)
		if err != nil {
			return nil, err
		}
		in = bufio.NewReader(unzipped)
	}
	hosts := Hosts{}
	entries := tar.NewReader(in)
	for first := true; ; first = false {
		entry, err := entries.Next()
		switch {
		case err == io.EOF:
			return hosts, nil
		case errors.Is(err, tar.ErrHeader), first && errors.Is(err, io.ErrUnexpectedEOF):
			return nil, errors.New("neither a folder nor a tar or tar.gz of host files")
		case err != nil:
			return nil, err
		case entry.Typeflag != tar.TypeReg:
			continue
		}
		body, err := io.ReadAll(entries)
		if err != nil {
			return nil, err
		}
		if err := hosts.add(entry.Name, body); err != nil {
			return nil, err
		}
	}
}

func (h Hosts) add(file string, body []byte) error {
	if strings.HasPrefix(path.Base(file), ".") {
		return nil
	}
	name := strings.ToLower(userfile.HostName(file))
	if _, twice := h[name]; twice {
		return fmt.Errorf("%s: a second file for host %s; keep one", file, name)
	}
	h[name] = body
	return nil
}
