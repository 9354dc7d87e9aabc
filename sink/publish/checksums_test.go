package publish

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/sinktest"
)

// A data set is whole only if each of its files has the checksum that it was published
// with, and no other file is there.
func TestCheckFindsDamage(t *testing.T) {
	good := os.DirFS(aSet(t, nil))
	for name, c := range map[string]struct {
		damage func(t *testing.T, folder string)
		want   string // part of the error, "" for none
	}{
		"nothing": {func(*testing.T, string) {}, ""},
		"a byte": {func(t *testing.T, folder string) {
			edit(t, folder, "verdicts/run=r/part-0000000000.parquet", func(text string) string {
				return text[:9] + "\x00" + text[10:]
			})
		}, "verdicts/run=r/part-0000000000.parquet is damaged: its SHA-256 is"},
		"a description": {func(t *testing.T, folder string) {
			edit(t, folder, datasheetName, replacing("A census", "A consus"))
		}, datasheetName + " is damaged"},
		"a file more": {func(t *testing.T, folder string) {
			must(t, os.WriteFile(filepath.Join(folder, "verdicts/run=r/more.parquet"), nil, 0o666))
		}, "verdicts/run=r/more.parquet is not of the data set"},
		"a file less": {func(t *testing.T, folder string) {
			must(t, os.Remove(filepath.Join(folder, "policies/run=q/part-0000000001.parquet")))
		}, "policies/run=q/part-0000000001.parquet is missing"},
		"a link": {func(t *testing.T, folder string) {
			must(t, os.Symlink("/dev/null", filepath.Join(folder, "link")))
		}, "link is damaged: it is not a file"},
		"a checksum twice": {func(t *testing.T, folder string) {
			edit(t, folder, checksumsName, func(text string) string {
				first, _, _ := strings.Cut(text, "\n")
				return text + first + "\n"
			})
		}, checksumsName + " is damaged"},
		"half a checksum": {func(t *testing.T, folder string) {
			edit(t, folder, checksumsName, func(text string) string { return text[9:] })
		}, checksumsName + " is damaged"},
		"no checksums": {func(t *testing.T, folder string) {
			must(t, os.Remove(filepath.Join(folder, checksumsName)))
		}, "it has no " + checksumsName},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			must(t, os.CopyFS(folder, good))
			c.damage(t, folder)
			d, err := Check(t.Context(), sinktest.Open(t, folder))
			if c.want == "" {
				if err != nil || len(d.Manifests()) != 2 || !d.Compared("r") || d.Compared("q") {
					t.Errorf("a whole data set: %v", err)
				}
				return
			}
			if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}
