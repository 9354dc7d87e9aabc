package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"512M": 512 << 20, "512MiB": 512 << 20, "2g": 2 << 30, "1048576": 1 << 20, "64k": 64 << 10, "1T": 1 << 40,
		"": -1, "M": -1, "-1G": -1, "1.5G": -1, "9999999999G": -1, "5X": -1, "1GG": -1,
	} {
		var s Size
		err := s.Set(text)
		if (err != nil) != (want < 0) || err == nil && int64(s) != want {
			t.Errorf("%q: %d, %v, want %d", text, s, err, want)
		}
		if err == nil {
			var again Size
			if err := again.Set(s.String()); err != nil || again != s {
				t.Errorf("%q: shown as %s, which is %d, %v", text, s.String(), again, err)
			}
		}
	}
}

// TestMemoryOfTheSystem reads the files of the kernel in each version of control
// groups, inside and outside of a container.
func TestMemoryOfTheSystem(t *testing.T) {
	const meminfo = "MemTotal:       16384000 kB\nMemFree: 1 kB\n"
	for _, row := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"no file", nil, 0},
		{"a machine", map[string]string{"proc/meminfo": meminfo}, 16384000 << 10},
		{"version 2", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "536870912\n"}, 512 << 20},
		{"version 2, unlimited", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a\n",
			"sys/fs/cgroup/a/memory.max": "max\n"}, 16384000 << 10},
		{"version 2, a group above", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "268435456\n"}, 256 << 20},
		{"version 2, a container", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "268435456\n"}, 256 << 20},
		{"version 1", map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/x\n0::/\n",
			"sys/fs/cgroup/memory/docker/x/memory.limit_in_bytes": "536870912\n"}, 512 << 20},
		{"version 1, unlimited", map[string]string{"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 16384000 << 10},
		{"version 1, a container that sees the path outside", map[string]string{"proc/meminfo": meminfo,
			"proc/self/cgroup": "4:memory:/docker/x\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "268435456\n"}, 256 << 20},
	} {
		root := t.TempDir()
		for name, text := range row.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := systemMemory(root); got != row.want {
			t.Errorf("%s: %d, want %d", row.name, got, row.want)
		}
	}
}
