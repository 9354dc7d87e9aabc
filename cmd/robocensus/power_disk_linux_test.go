package main

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// disk is a folder as the processes see it, and what of it survives a loss of power: the
// contents of a file as of its last fsync, and the names in a folder as of that of the
// folder. What came later may survive or not, each on its own: no file system forgets
// more. An fsync of a file brings no name to disk.
type disk struct {
	root    *inode
	changes int
}

// inode is a file or a folder.
type inode struct {
	data, synced []byte // of a file, now and on disk

	names   map[string]*inode // of a folder, nil for a file
	onDisk  map[string]*inode
	pending []change // of names, since the last fsync

	writes, safe int // changes of a file or of names, and how many of them are on disk
}

// change is a change of one name. The two of a rename in one folder have one number, and
// survive together.
type change struct {
	number int
	name   string
	node   *inode // nil if the name goes
}

func newFolder() *inode {
	return &inode{names: make(map[string]*inode), onDisk: make(map[string]*inode)}
}

// change changes a name in a folder.
func (d *disk) change(folder *inode, name string, node *inode) {
	folder.pending = append(folder.pending, change{d.changes, name, node})
	folder.writes++
	if node == nil {
		delete(folder.names, name)
	} else {
		folder.names[name] = node
	}
}

// step begins a change that survives as one.
func (d *disk) step() { d.changes++ }

// sync returns what brings a file, or the names in a folder, to disk as they are now: it
// runs when the fsync has ended. Threads may sync one folder at a time, and the one that
// began first may end last: it takes nothing back.
func (n *inode) sync() func() {
	data, names, writes := slices.Clone(n.data), maps.Clone(n.names), n.writes
	return func() {
		if writes < n.safe {
			return
		}
		if names == nil {
			n.synced = data
		} else {
			n.onDisk, n.pending = names, n.pending[writes-n.safe:]
		}
		n.safe = writes
	}
}

// write writes to a file.
func (n *inode) write(at int64, data []byte) {
	n.resize(max(int64(len(n.data)), at+int64(len(data))))
	copy(n.data[at:], data)
}

func (n *inode) resize(size int64) {
	data := make([]byte, size) // synced may share the old one
	copy(data, n.data)
	n.data = data
	n.writes++
}

// readDisk returns a folder of which everything is on disk.
func readDisk(t *testing.T, dir string) *disk {
	t.Helper()
	var read func(dir string) *inode
	read = func(dir string) *inode {
		entries, err := os.ReadDir(dir)
		must(t, err)
		folder := newFolder()
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			node := new(inode)
			if e.IsDir() {
				node = read(path)
			} else {
				node.data, err = os.ReadFile(path)
				must(t, err)
				node.synced = node.data
			}
			folder.names[e.Name()] = node
		}
		folder.onDisk = maps.Clone(folder.names)
		return folder
	}
	return &disk{root: read(dir)}
}

// copy returns a copy of a disk of which everything is on disk.
func (d *disk) copy() *disk {
	var node func(n *inode) *inode
	node = func(n *inode) *inode {
		if n.names == nil {
			c := *n
			return &c
		}
		c := newFolder()
		for name, child := range n.names {
			c.names[name] = node(child)
		}
		c.onDisk = maps.Clone(c.names)
		return c
	}
	return &disk{root: node(d.root)}
}

// loss decides what survives.
type loss struct {
	kind  string
	draw  *rand.Rand
	first int // with kind "in order", the first change that is lost
	kept  map[int]bool
}

// losses are the ways in which a disk forgets: everything that it may; nothing; contents
// but no names (a rename overtakes the contents); names from some moment on; each of all
// by lot.
var losses = []string{"everything", "nothing", "contents", "in order", "by lot"}

func (d *disk) lose(kind string, seed uint64) *loss {
	draw := rand.New(rand.NewPCG(seed, 1))
	return &loss{kind, draw, d.changes - draw.IntN(min(d.changes, 12)+1), make(map[int]bool)}
}

// loseAt is lose with a lot of its own for each line of the log.
func (d *disk) loseAt(kind string, line int) *loss {
	return d.lose(kind, uint64(line*len(losses)+slices.Index(losses, kind)))
}

func (l *loss) keeps(number int) bool {
	switch l.kind {
	case "everything":
		return false
	case "in order":
		return number < l.first
	case "by lot":
		if _, decided := l.kept[number]; !decided {
			l.kept[number] = l.draw.IntN(2) == 0
		}
		return l.kept[number]
	}
	return true
}

// survives returns the contents of a file after a loss of power: the old or the new, or
// these up to some byte, followed by nothing or, where only the length survived, zeros.
func (l *loss) survives(n *inode) []byte {
	if l.kind == "nothing" || slices.Equal(n.data, n.synced) {
		return n.data
	}
	if l.kind == "everything" || l.kind == "contents" {
		return n.synced
	}
	cut := slices.Clone(n.data[:l.draw.IntN(len(n.data)+1)])
	switch l.draw.IntN(4) {
	case 0:
		return n.data
	case 1:
		return n.synced
	case 2:
		return cut
	}
	return append(cut, make([]byte, len(n.data)-len(cut))...)
}

// image is a folder after a loss of power.
type image struct {
	folders []string
	files   map[string]*inode // by path
	content map[*inode][]byte
}

func (d *disk) image(l *loss) *image {
	m := &image{files: make(map[string]*inode), content: make(map[*inode][]byte)}
	m.add(d.root, "", l)
	return m
}

func (m *image) add(folder *inode, path string, l *loss) {
	names := maps.Clone(folder.onDisk)
	for _, c := range folder.pending {
		if !l.keeps(c.number) {
			continue
		}
		if c.node == nil {
			delete(names, c.name)
		} else {
			names[c.name] = c.node
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		node, at := names[name], filepath.Join(path, name)
		if node.names != nil {
			m.folders = append(m.folders, at)
			m.add(node, at, l)
			continue
		}
		m.files[at] = node
		if _, decided := m.content[node]; !decided {
			m.content[node] = l.survives(node)
		}
	}
}

// texts returns the contents by path.
func (m *image) texts() map[string]string {
	texts := make(map[string]string)
	for path, node := range m.files {
		texts[path] = string(m.content[node])
	}
	return texts
}

var sumSeed = maphash.MakeSeed()

// sum tells images apart.
func (m *image) sum() uint64 {
	var h maphash.Hash
	h.SetSeed(sumSeed)
	fmt.Fprintf(&h, "%q\n", m.folders)
	for _, path := range slices.Sorted(maps.Keys(m.files)) {
		fmt.Fprintf(&h, "%q %x\n", path, maphash.Bytes(sumSeed, m.content[m.files[path]]))
	}
	return h.Sum64()
}

// write replaces a folder by the image.
func (m *image) write(t *testing.T, dir string) {
	t.Helper()
	must(t, os.RemoveAll(dir))
	must(t, os.MkdirAll(dir, 0o777))
	for _, folder := range m.folders {
		must(t, os.Mkdir(filepath.Join(dir, folder), 0o777))
	}
	first := make(map[*inode]string)
	for path, node := range m.files {
		path = filepath.Join(dir, path)
		if other, ok := first[node]; ok { // a file of two names
			must(t, os.Link(other, path))
			continue
		}
		first[node] = path
		must(t, os.WriteFile(path, m.content[node], 0o666))
	}
}

// TestSyncsOfOneFolderOverlap lets the fsync that began first end last.
func TestSyncsOfOneFolderOverlap(t *testing.T) {
	d := &disk{root: newFolder()}
	file := new(inode)
	d.change(d.root, "a", file)
	file.write(0, []byte("one"))
	first, firstOfFile := d.root.sync(), file.sync()
	d.change(d.root, "b", new(inode))
	file.write(0, []byte("two"))
	second, secondOfFile := d.root.sync(), file.sync()
	d.change(d.root, "c", new(inode))
	for _, end := range []func(){second, secondOfFile, first, firstOfFile} {
		end()
	}
	if len(d.root.onDisk) != 2 || len(d.root.pending) != 1 || string(file.synced) != "two" {
		t.Errorf("%d names on disk, %d pending, %q; want 2, 1, two",
			len(d.root.onDisk), len(d.root.pending), file.synced)
	}
}
