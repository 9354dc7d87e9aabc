package sink

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// comparisons verifies the parts of changes. One may be under way, or have been
// killed: the next of the two runs removes what it has left.
func (v *verifier) comparisons(ctx context.Context) error {
	folder := path.Join(changesTable, "run="+v.run)
	for _, name := range v.files(folder) {
		against, ok := strings.CutPrefix(name, "against=")
		if !ok || CheckRunID(against) != nil {
			v.add(path.Join(folder, name), badExtra, "is no comparison")
			continue
		}
		for _, file := range v.files(path.Join(folder, name)) {
			where := path.Join(folder, name, file)
			switch {
			case file == changesPart:
				if err := v.comparison(ctx, where, against); err != nil {
					return err
				}
			case file != "expectations.csv" && file != lockName && !strings.HasSuffix(file, ".tmp"):
				v.add(where, badExtra, "is none of a comparison's files")
			}
		}
	}
	return nil
}

// files are the names in a folder, none where it is not there.
func (v *verifier) files(folder string) (names []string) {
	files, err := os.ReadDir(filepath.Join(v.dir, filepath.FromSlash(folder)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		v.add(folder, badFile, err.Error())
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	return names
}

func (v *verifier) comparison(ctx context.Context, where, against string) error {
	name := filepath.Join(v.dir, filepath.FromSlash(where))
	info, err := os.Stat(name) // before it is opened: a pipe would wait for a writer
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("is no regular file")
	}
	var f *os.File
	if err == nil {
		f, err = os.Open(name)
	}
	if err != nil {
		v.add(where, badFile, err.Error())
		return nil
	}
	defer f.Close()
	p := Part{Table: changesTable, Path: where, Rows: anyRows}
	_, err = v.decode(ctx, p, f, map[string]string{metadataAgainst: against}, func(arrow.RecordBatch) {})
	return err
}
