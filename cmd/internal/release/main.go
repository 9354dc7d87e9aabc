// Command release builds what people download: for each platform an archive with the
// static binaries robocensus and robofarm, README, licences and man pages, a list of
// the modules in robocensus (CycloneDX), an image for containers (OCI), and the SHA-256 of
// all files. make release runs it.
//
// The same commit, without changes, and the same Go give the same bytes, in any folder
// and at any time: entries of archives have the time of the commit, a fixed order, and
// no owner.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// platforms are those of the downloads, as GOOS/GOARCH.
var platforms = []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}

// release says what to build.
type release struct {
	version  string
	out      string    // folder of the archives; it must be empty
	man      string    // folder of the man pages
	commands []string  // packages
	time     time.Time // of the commit, for the entries of archives
	work     string    // folder of binaries
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := pflag.NewFlagSet("release", pflag.ContinueOnError)
	version := flags.String("version", "", "version of the binaries and in the names of the archives")
	out := flags.String("out", "release", "folder to make, for the archives")
	man := flags.String("man", "bin/man", "folder of the man pages (make man)")
	tool := flags.String("sbom", "", "package, with version, that lists the modules of a binary: cyclonedx-gomod")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || strings.ContainsAny(*version, `/\ `) {
		return fmt.Errorf("--version %q is not a name for files; give one such as 1.0.0", *version)
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH must be the time of the commit in Unix seconds, as make release sets it")
	}
	if err := os.Mkdir(*out, 0o777); err != nil {
		return fmt.Errorf("cannot make the folder of the archives; remove it if it is of an earlier release: %w", err)
	}
	work, err := os.MkdirTemp("", "release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r := release{
		version: *version, out: *out, man: *man, commands: []string{"./cmd/robocensus", "./cmd/robofarm"},
		time: time.Unix(seconds, 0).UTC(), work: work,
	}
	for _, platform := range platforms {
		if err := r.archive(ctx, platform); err != nil {
			return fmt.Errorf("%s: %w", platform, err)
		}
		if *tool == "" {
			continue
		}
		if err := r.listModules(ctx, platform, *tool); err != nil {
			return fmt.Errorf("list the modules of %s: %w", platform, err)
		}
	}
	if err := r.image(); err != nil {
		return fmt.Errorf("image: %w", err)
	}
	return r.sum()
}

// name returns the name of what belongs to a platform, without an ending.
func (r *release) name(platform string) string {
	return fmt.Sprintf("robocensus_%s_%s", r.version, strings.ReplaceAll(platform, "/", "_"))
}

// binary returns the path of a command's binary for a platform.
func (r *release) binary(platform, command string) string {
	name := filepath.Base(command)
	if strings.HasPrefix(platform, "windows/") {
		name += ".exe"
	}
	return filepath.Join(r.work, r.name(platform), name)
}

// archive builds the commands for a platform and packs them.
func (r *release) archive(ctx context.Context, platform string) error {
	var entries []entry
	for _, command := range r.commands {
		binary := r.binary(platform, command)
		if _, err := r.goTool(ctx, platform, "build", "-ldflags",
			"-s -X github.com/robocensus/robocensus/cmd/internal/cli.ToolVersion="+r.version, "-o", binary,
			command); err != nil {
			return err
		}
		content, err := os.ReadFile(binary)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: filepath.Base(binary), content: content, executable: true})
	}
	for _, name := range []string{"README.md", "LICENSE"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: name, content: content})
	}
	pages, err := filepath.Glob(filepath.Join(r.man, "*.1"))
	if err != nil || len(pages) == 0 {
		return fmt.Errorf("no man pages in %s; run make man: %w", r.man, errors.Join(err, os.ErrNotExist))
	}
	for _, page := range pages {
		content, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: "man/man1/" + filepath.Base(page), content: content})
	}
	licences, err := r.licences(ctx, platform)
	if err != nil {
		return err
	}
	entries = append(entries, entry{name: "THIRD_PARTY_LICENCES.txt", content: licences})
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	for i := range entries {
		entries[i].name = r.name(platform) + "/" + entries[i].name
	}
	if strings.HasPrefix(platform, "windows/") {
		return writeZip(filepath.Join(r.out, r.name(platform)+".zip"), entries, r.time)
	}
	return writeTar(filepath.Join(r.out, r.name(platform)+".tar.gz"), entries, r.time)
}

// licences returns the licences and notices of the modules that are linked into the
// commands, and that of Go.
func (r *release) licences(ctx context.Context, platform string) ([]byte, error) {
	const perModule = `{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`
	listed, err := r.goTool(ctx, platform, append([]string{"list", "-deps", "-f", perModule}, r.commands...)...)
	if err != nil {
		return nil, err
	}
	root, err := r.goTool(ctx, platform, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	modules := append(strings.Split(strings.TrimSpace(string(listed)), "\n"), "Go, "+runtime.Version()+
		"\t"+strings.TrimSpace(string(root)))
	slices.Sort(modules)
	var text strings.Builder
	for _, module := range slices.Compact(modules) {
		name, folder, _ := strings.Cut(module, "\t")
		files, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		found := false
		for _, f := range files {
			if !isLicence(f.Name()) || f.IsDir() {
				continue
			}
			content, err := os.ReadFile(filepath.Join(folder, f.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&text, "==== %s: %s\n\n%s\n\n", name, f.Name(), strings.TrimSpace(string(content)))
		}
		if !found {
			return nil, fmt.Errorf("module %s has no file of its licence", name)
		}
	}
	return []byte(text.String()), nil
}

// isLicence reports whether a file must accompany binaries: a licence or a notice.
func isLicence(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS"},
		func(begin string) bool { return strings.HasPrefix(name, begin) }) &&
		!strings.HasSuffix(name, ".GO")
}

// listModules writes the list of the modules in robocensus, from its binary.
func (r *release) listModules(ctx context.Context, platform, tool string) error {
	_, err := r.goTool(ctx, runtime.GOOS+"/"+runtime.GOARCH, "run", tool, "bin", "-json", "-std", "-noserial",
		"-notimestamp",
		"-version", r.version, "-output", filepath.Join(r.out, r.name(platform)+".cdx.json"),
		r.binary(platform, r.commands[0]))
	return err
}

// goTool runs the go command for a platform and returns its output.
func (r *release) goTool(ctx context.Context, platform string, args ...string) ([]byte, error) {
	system, architecture, _ := strings.Cut(platform, "/")
	c := exec.CommandContext(ctx, "go", args...)
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+architecture, "GOAMD64=v1", "GOARM64=v8.0",
		"GOEXPERIMENT=")
	var failure strings.Builder
	c.Stderr = &failure
	output, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, failure.String())
	}
	return output, nil
}

// sum writes SHA256SUMS, as sha256sum -c reads it.
func (r *release) sum() error {
	files, err := os.ReadDir(r.out) // by name
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	return os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), []byte(sums.String()), 0o666)
}
