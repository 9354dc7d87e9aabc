package cli

import (
	"errors"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/robocensus/robocensus/pipeline"
)

// Size is the value of a flag in bytes, such as 512M; 0 if it is not given.
type Size int64

// minMemory is what a run of a few hosts takes.
const minMemory = 96 << 20

var errSize = errors.New("expected a size such as 512M or 2G")

func (s *Size) Set(text string) error {
	digits := strings.TrimRight(strings.ToUpper(text), "KMGTIB")
	shift, ok := map[string]uint{
		"": 0, "B": 0, "K": 10, "KB": 10, "KIB": 10, "M": 20, "MB": 20, "MIB": 20, "G": 30, "GB": 30, "GIB": 30, "T": 40,
		"TB": 40, "TIB": 40,
	}[strings.ToUpper(text[len(digits):])]
	n, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || n < 0 || n > math.MaxInt64>>shift {
		return errSize
	}
	*s = Size(n << shift)
	return nil
}

func (s *Size) String() string {
	switch n := int64(*s); {
	case n == 0:
		return ""
	case n%(1<<30) == 0:
		return strconv.FormatInt(n>>30, 10) + "G"
	case n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + "M"
	default:
		return strconv.FormatInt(n, 10)
	}
}

func (s *Size) Type() string { return "size" }

// ProcessMemory returns the memory that the process may take: the value of --memory
// or GOMEMLIMIT, otherwise what the system allows, 0 if unknown.
func ProcessMemory(given Size, concurrency int) (int64, error) {
	memory, source := int64(given), "--memory "+given.String()
	if memory == 0 && hasLimit() {
		memory, source = debug.SetMemoryLimit(-1), "GOMEMLIMIT"
	}
	if memory == 0 {
		memory, source = systemMemory("/"), "the memory of this system"
	}
	if memory == 0 {
		return 0, nil
	}
	if memory < minMemory {
		return 0, Usagef("%s: a run needs at least %d MiB", source, minMemory>>20)
	}
	if most := pipeline.MostConcurrency(memory); int64(concurrency) > most {
		return 0, Usagef("--concurrency %d: %s, %d MiB, has room for %d concurrent requests; lower it, or give more "+
			"--memory", concurrency, source, memory>>20, most)
	}
	return memory, nil
}

// LimitMemory makes the runtime collect garbage before the process exceeds its
// memory. It leaves an eighth for the kernel's buffers.
func LimitMemory(given Size, memory int64) {
	if memory > 0 && (given > 0 || !hasLimit()) {
		debug.SetMemoryLimit(memory - memory/8)
	}
}

// ReadingMemory is the memory from which verify and reproduce collect garbage early: the
// set may be a stranger's, made to leave much of it. It grows with the rows of a set.
func ReadingMemory(rows int64) int64 { return 320<<20 + 16*max(0, min(rows, 1<<32)) }

// hasLimit reports whether the environment already limits the runtime's memory.
func hasLimit() bool {
	text := os.Getenv("GOMEMLIMIT")
	return text != "" && text != "off"
}

// systemMemory returns the memory that Linux allows this process, 0 if unknown: that
// of the machine, or less in a control group of version 1 or 2.
func systemMemory(root string) int64 {
	memory := int64(0)
	lower := func(text string, unit int64) {
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		if err == nil && n > 0 && n <= math.MaxInt64/unit && (memory == 0 || n*unit < memory) {
			memory = n * unit
		}
	}
	info, _ := os.ReadFile(path.Join(root, "proc/meminfo"))
	for line := range strings.Lines(string(info)) {
		if total, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			lower(strings.TrimSuffix(strings.TrimSpace(total), " kB"), 1<<10)
		}
	}
	groups, _ := os.ReadFile(path.Join(root, "proc/self/cgroup"))
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		mount, file := "", ""
		switch controllers := strings.Split(fields[1], ","); {
		case fields[0] == "0" && fields[1] == "":
			mount, file = "sys/fs/cgroup", "memory.max"
		case len(controllers) == 1 && controllers[0] == "memory":
			mount, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		// The limits of the group and of the groups above it. In a container, the
		// nearest visible one may be the mount itself.
		for group := path.Clean("/" + fields[2]); ; group = path.Dir(group) {
			text, _ := os.ReadFile(path.Join(root, mount, group, file))
			lower(string(text), 1)
			if group == "/" {
				break
			}
		}
	}
	return memory
}
