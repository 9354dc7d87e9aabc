package configs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// run runs a tool that checks a file of the schedules. It skips the test if the
// tool is not installed.
func run(t *testing.T, dir, tool string, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath(tool); err != nil {
		t.Skipf("%s is not installed", tool)
	}
	c := exec.Command(tool, args...)
	c.Dir = dir
	text, err := c.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", tool, err, text)
	}
	return string(text)
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("schedule", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// units copies the units to a folder, with the path of the script in this checkout,
// because systemd-analyze checks that it exists.
func units(t *testing.T) string {
	t.Helper()
	script, err := filepath.Abs("schedule/weekly.sh")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range []string{"robocensus.service", "robocensus-failed.service", "robocensus.timer"} {
		content := strings.Replace(read(t, name), "ExecStart=/usr/local/bin/weekly.sh", "ExecStart="+script, 1)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestSystemdUnits(t *testing.T) {
	// systemd-analyze reports unknown settings but exits with 0.
	if text := run(t, units(t), "systemd-analyze", "verify", "--man=no", "./robocensus.service",
		"./robocensus-failed.service", "./robocensus.timer"); text != "" {
		t.Error(text)
	}
}

// The exposure level is 10 for a service without restrictions; this one had 1.2 when
// the test was written.
func TestSystemdServiceIsRestricted(t *testing.T) {
	run(t, units(t), "systemd-analyze", "security", "--offline=true", "--threshold=15", "--no-pager",
		"./robocensus.service")
}

func TestScripts(t *testing.T) {
	run(t, "schedule", "shellcheck", "weekly.sh")
	run(t, "deploy/slurm", "shellcheck", "robocensus.sbatch", "test.sh")
	run(t, "deploy/kubernetes", "shellcheck", "test.sh")
}

// Debian's crontab -n checks a user's crontab, whose lines have no user field.
func TestCrontab(t *testing.T) {
	table := regexp.MustCompile(`(?m)^((?:\S+ ){5}|@reboot +)robocensus cd `).ReplaceAllString(read(t, "robocensus.cron"),
		"${1}cd ")
	if strings.Contains(table, "robocensus cd ") || strings.Contains(table, "%") {
		t.Errorf("cron reads these lines otherwise:\n%s", table)
	}
	path := filepath.Join(t.TempDir(), "crontab")
	if text, err := exec.Command("crontab", "-n", os.DevNull).CombinedOutput(); err == nil ||
		!strings.Contains(string(text), "regular file") {
		t.Skipf("no crontab is installed that checks files: %v %s", err, text)
	}
	if err := os.WriteFile(path, []byte(table), 0o666); err != nil {
		t.Fatal(err)
	}
	run(t, "", "crontab", "-n", path)
}

// The schedules start at the same time, those for machines every day and at boot,
// and treat the same exit codes as final.
func TestSchedulesAgree(t *testing.T) {
	for name, want := range map[string][]string{
		"robocensus.timer":   {"OnCalendar=*-*-* 03:17:00 UTC\n", "Persistent=true\n"},
		"robocensus.cron":    {"\n17 3 * * * robocensus ", "\n@reboot "},
		"cronjob.yaml":       {`schedule: "17 3 * * 1"`, "timeZone: Etc/UTC", "values: [1, 64, 65]", "values: [69, 75]"},
		"robocensus.service": {"RestartPreventExitStatus=1 64 65\n", "OnFailure=robocensus-failed.service\n"},
	} {
		for _, text := range want {
			if !strings.Contains(read(t, name), text) {
				t.Errorf("%s: lacks %q", name, text)
			}
		}
	}
}
