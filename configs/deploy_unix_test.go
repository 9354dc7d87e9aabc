//go:build unix

package configs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a task of the array puts back in the queue. make test-slurm tests the rest.
// The task runs stand-ins of robocensus, which exits with CODE, or if
// that is "wait", with 75 after a SIGTERM; and of scontrol, which prints its arguments.
// bash 5.2 loses the code of a process that ends at the moment of a signal.
func TestSlurmTask(t *testing.T) {
	bin := t.TempDir()
	for name, text := range map[string]string{
		"robocensus": "#!/bin/sh\necho robocensus \"$@\"\n[ \"$CODE\" = wait ] || exit \"$CODE\"\n" +
			"trap 'sleep 0.1; exit 75' TERM\necho waits >\"$READY\"\nfor i in $(seq 2000); do sleep 0.01; done\n",
		"scontrol": "#!/bin/sh\necho scontrol \"$@\"\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	const requeue = "scontrol requeue 100_7\n"
	for _, c := range []struct {
		name, code, restarts string
		signals              []os.Signal
		exit                 int
		requeues             bool
	}{
		{name: "done", code: "0"},
		{name: "usage", code: "64", exit: 64},
		{name: "another plan", code: "65", exit: 65},
		{name: "no host could be reached", code: "69", exit: 69, requeues: true},
		{name: "a disk", code: "74", exit: 74, restarts: "19", requeues: true},
		{name: "no network", code: "75", exit: 75, requeues: true},
		{name: "SIGKILL", code: "137", exit: 137, requeues: true},
		{name: "too often", code: "74", exit: 74, restarts: "20"},
		{name: "the time limit", code: "wait", signals: []os.Signal{syscall.SIGUSR1}, exit: 75, requeues: true},
		{name: "scancel", code: "wait", signals: []os.Signal{syscall.SIGTERM}, exit: 75},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ready := filepath.Join(t.TempDir(), "ready")
			var out strings.Builder
			task := exec.Command("bash", "deploy/slurm/robocensus.sbatch", "--memory", "2G")
			task.Stdout, task.Stderr = &out, &out
			task.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "OUT=out", "RUN=r", "OFFSET=1000",
				"SLURM_ARRAY_JOB_ID=100", "SLURM_JOB_ID=100", "SLURM_ARRAY_TASK_ID=7", "SLURM_RESTART_COUNT="+c.restarts, "CODE="+
					c.code, "READY="+ready)
			task.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := task.Start(); err != nil {
				t.Fatal(err)
			}
			for _, s := range c.signals {
				for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
					if _, err := os.Stat(ready); err == nil {
						break
					}
					if time.Now().After(deadline) {
						t.Fatal("robocensus does not begin within 20 seconds")
					}
				}
				to := task.Process.Pid
				if s == syscall.SIGTERM {
					to = -to // all processes, as Slurm does it
				}
				syscall.Kill(to, s.(syscall.Signal))
			}
			task.Wait()
			if got := task.ProcessState.ExitCode(); got != c.exit {
				t.Errorf("exit code %d, want %d", got, c.exit)
			}
			if !strings.Contains(out.String(), "robocensus run --out out --run r --shard 1007 --progress log --memory 2G\n") {
				t.Error("other arguments")
			}
			if strings.HasSuffix(out.String(), requeue) != c.requeues {
				t.Errorf("requeues, want %t", c.requeues)
			}
			if t.Failed() {
				t.Logf("it prints\n%s", &out)
			}
		})
	}
}
