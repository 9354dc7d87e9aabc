package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// traced are the system calls by which the program changes files, or numbers them.
const traced = "open,openat,creat,write,pwrite64,writev,pwritev,pwritev2,lseek,truncate,ftruncate,fallocate," +
	"copy_file_range,sendfile,splice,rename,renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir," +
	"mkdirat,rmdir,fsync,fdatasync,close,dup,dup2,dup3"

// trace runs the program under strace and returns its log.
func trace(t *testing.T, args ...string) []byte {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	strace := []string{"--seccomp-bpf", "-f", "-xx", "-s", strconv.Itoa(8 << 20), "-o", log, "-e", "trace=" + traced,
		"-e", "signal=none"}
	c := command(args...)
	c.Args = append(append(append([]string{"strace"}, strace...), c.Path), args...)
	path, err := exec.LookPath("strace")
	must(t, err)
	c.Path = path
	if said, err := c.CombinedOutput(); err != nil {
		t.Fatalf("robocensus %s: %v\n%s", strings.Join(args, " "), err, said)
	}
	text, err := os.ReadFile(log)
	must(t, err)
	return text
}

// replay is a disk to which a process does what a log of strace says.
type replay struct {
	*disk
	dir  string // of the root
	fds  map[string]*opened
	ends map[string]func() // what the fsync of a thread does when it ends
	kind string            // of the last call that has changed the disk, "" for none
}

// opened is an open file or folder.
type opened struct {
	node *inode
	at   int64
}

// lines calls do for each line of a log. The call of a thread that another one interrupts
// has two lines: what it does is done at its end.
func (r *replay) lines(log []byte, do func(line int) bool) error {
	begun := make(map[string]string)
	in := bufio.NewScanner(bytes.NewReader(log))
	in.Buffer(nil, len(log)+1)
	for line := 1; in.Scan(); line++ {
		thread, text, _ := strings.Cut(in.Text(), " ")
		text = strings.TrimLeft(text, " ")
		if strings.HasPrefix(text, "+++") || strings.HasPrefix(text, "---") {
			continue
		}
		if before, ok := strings.CutSuffix(text, "<unfinished ...>"); ok {
			begun[thread] = before
			r.begin(thread, before)
			continue
		}
		if _, rest, ok := strings.Cut(text, " resumed>"); ok && strings.HasPrefix(text, "<...") {
			text = strings.TrimRight(begun[thread], " ") + rest
		} else {
			r.begin(thread, text)
		}
		r.kind = ""
		if err := r.end(thread, text); err != nil {
			return fmt.Errorf("line %d of the log: %w: %.300s", line, err, text)
		}
		if r.kind != "" && !do(line) {
			return nil
		}
	}
	return in.Err()
}

// begin is the begin of a call: a number is free before its close ends, and an fsync
// promises what was there before.
func (r *replay) begin(thread, text string) {
	name, rest, _ := strings.Cut(text, "(")
	fd := strings.TrimSpace(strings.FieldsFunc(rest+" ", func(c rune) bool { return c == ',' || c == ')' })[0])
	f := r.fds[fd]
	switch {
	case f == nil:
	case name == "close":
		delete(r.fds, fd)
	case name == "fsync" || name == "fdatasync":
		r.ends[thread] = f.node.sync()
	}
}

var callLine = regexp.MustCompile(`^(\w+)\((.*)\)\s+= (-?\d+|\?)(?: .*)?$`)

// end is the end of a call.
func (r *replay) end(thread, text string) error {
	m := callLine.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("not a call")
	}
	if strings.HasPrefix(m[3], "-") || m[3] == "?" {
		delete(r.ends, thread)
		return nil // it failed
	}
	result, err := strconv.ParseInt(m[3], 10, 64)
	if err != nil {
		return err
	}
	args := strings.Split(m[2], ", ")
	switch name := m[1]; name {
	case "close":
	case "fsync", "fdatasync":
		if end := r.ends[thread]; end != nil {
			end()
			r.kind = name
		}
		delete(r.ends, thread)
	case "openat":
		return r.open(args, m[3])
	case "lseek":
		if f := r.fds[args[0]]; f != nil {
			f.at = result
		}
	case "write", "pwrite64", "ftruncate":
		if f := r.fds[args[0]]; f != nil {
			r.kind = name
			return f.change(name, args, result)
		}
	case "mkdirat", "unlinkat", "renameat", "renameat2", "linkat":
		return r.rename(name, args)
	case "symlinkat":
		if folder, _, _ := r.find(args[1], args[2]); folder != nil {
			return fmt.Errorf("not known")
		}
	default: // of a file of ours it is not known what it does
		if r.fds[args[0]] != nil || strings.Contains(unquoted(args[0]), r.dir) || strings.Contains(m[2], "AT_FDCWD") {
			return fmt.Errorf("not known")
		}
	}
	return nil
}

func (f *opened) change(name string, args []string, result int64) error {
	size, err := strconv.ParseInt(args[len(args)-1], 10, 64)
	switch {
	case err != nil:
		return err
	case name == "ftruncate":
		f.node.resize(size)
		return nil
	}
	data := unquoted(args[1])
	if strings.HasSuffix(args[1], "...") || int64(len(data)) < result {
		return fmt.Errorf("strace has cut the bytes")
	}
	data = data[:result]
	if name == "pwrite64" {
		f.node.write(size, []byte(data))
		return nil
	}
	f.node.write(f.at, []byte(data))
	f.at += result
	return nil
}

func (r *replay) open(args []string, fd string) error {
	delete(r.fds, fd)
	folder, name, node := r.find(args[0], args[1])
	if folder == nil {
		return nil
	}
	if strings.Contains(args[2], "O_APPEND") || strings.Contains(args[2], "O_TMPFILE") {
		return fmt.Errorf("not known")
	}
	if node == nil && strings.Contains(args[2], "O_CREAT") {
		node = new(inode)
		r.step()
		r.change(folder, name, node)
		r.kind = "create"
	} else if strings.Contains(args[2], "O_TRUNC") && len(node.data) > 0 {
		node.resize(0)
		r.kind = "truncate"
	}
	if node == nil {
		return fmt.Errorf("a file that is not there")
	}
	r.fds[fd] = &opened{node: node}
	return nil
}

// rename does a call that changes names.
func (r *replay) rename(call string, args []string) error {
	folder, name, node := r.find(args[0], args[1])
	var to *inode
	var toName string
	if len(args) > 3 {
		to, toName, _ = r.find(args[2], args[3])
	}
	if folder == nil && to == nil {
		return nil
	}
	if folder == nil || len(args) > 3 && to == nil || node == nil && call != "mkdirat" {
		return fmt.Errorf("a file that is not there")
	}
	r.kind = call
	r.step()
	switch call {
	case "mkdirat":
		r.change(folder, name, newFolder())
	case "unlinkat":
		r.change(folder, name, nil)
	case "linkat":
		r.change(to, toName, node)
	default:
		r.change(to, toName, node)
		if folder != to {
			r.step() // of two folders one may be on disk without the other
		}
		r.change(folder, name, nil)
	}
	return nil
}

// find returns what a path leads to, and the folder that it is in: nil outside of ours.
func (r *replay) find(at, quoted string) (folder *inode, name string, node *inode) {
	path := unquoted(quoted)
	folder = r.root
	if !filepath.IsAbs(path) {
		f := r.fds[at]
		if f == nil || f.node.names == nil {
			return nil, "", nil
		}
		folder = f.node
	} else if path != r.dir && !strings.HasPrefix(path, r.dir+"/") {
		return nil, "", nil
	}
	path = strings.Trim(strings.TrimPrefix(path, r.dir), "/")
	if path == "" || path == "." {
		return folder, ".", folder
	}
	names := strings.Split(filepath.Clean(path), "/")
	for _, n := range names[:len(names)-1] {
		if folder = folder.names[n]; folder == nil {
			return nil, "", nil
		}
	}
	name = names[len(names)-1]
	return folder, name, folder.names[name]
}

// unquoted returns the bytes of a text that strace -xx has written.
func unquoted(text string) string {
	b, _ := hex.DecodeString(strings.ReplaceAll(strings.Trim(text, `".`), `\x`, ""))
	return string(b)
}
