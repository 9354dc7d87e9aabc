package configs

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// decodeStrictly decodes a file whose fields must all be known.
func decodeStrictly(t *testing.T, name string, into any) {
	t.Helper()
	f, err := os.Open(filepath.Join("deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := json.NewDecoder(f)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// retried says which exit codes of a shard are worth another attempt, as the table in
// deploy/README.md does.
var retried = map[int]bool{64: false, 65: false, 69: true, 74: true, 75: true, 137: true}

func TestTableOfExitCodes(t *testing.T) {
	content, err := os.ReadFile("deploy/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"\n| 64, 65 | no:", "\n| 69, 74, 75 | yes:", "\n| 137 | yes:"} {
		if !strings.Contains(string(content), line) {
			t.Errorf("deploy/README.md lacks %q", line)
		}
	}
}

// awsJobDefinition has the fields of AWS Batch's RegisterJobDefinition that the
// definition uses.
type awsJobDefinition struct {
	JobDefinitionName, Type string
	PlatformCapabilities    []string
	Parameters              map[string]string
	ContainerProperties     struct {
		Image, User, JobRoleArn string
		Command                 []string
		ResourceRequirements    []struct{ Type, Value string }
	}
	RetryStrategy struct {
		Attempts       int
		EvaluateOnExit []struct{ OnStatusReason, OnReason, OnExitCode, Action string }
	}
}

// The first condition that matches decides. AWS Batch takes at most 5 of them, at most
// 10 attempts, and retries what none of them matches.
func TestAWSBatch(t *testing.T) {
	var job awsJobDefinition
	decodeStrictly(t, "aws-batch.json", &job)
	matches := func(pattern, text string) bool {
		prefix, glob := strings.CutSuffix(pattern, "*")
		return pattern == "" || text == pattern || glob && strings.HasPrefix(text, prefix)
	}
	action := func(code int, status string) string {
		for _, e := range job.RetryStrategy.EvaluateOnExit {
			if matches(e.OnExitCode, strconv.Itoa(code)) && matches(e.OnStatusReason, status) && matches(e.OnReason, "") {
				return e.Action
			}
		}
		return "RETRY"
	}
	for code, again := range retried {
		want := map[bool]string{true: "RETRY", false: "EXIT"}[again]
		if got := action(code, "Essential container in task exited"); got != want {
			t.Errorf("exit code %d: %s, want %s", code, got, want)
		}
		if got := action(code, "Host EC2 (instance i-0) terminated."); got != "RETRY" {
			t.Errorf("exit code %d of a host that is gone: %s", code, got)
		}
	}
	c, rules := job.ContainerProperties, job.RetryStrategy.EvaluateOnExit
	if n := len(rules); n == 0 || n > 5 || rules[n-1] != struct{ OnStatusReason, OnReason, OnExitCode, Action string }{
		OnReason: "*", Action: "EXIT"} {
		t.Errorf("%d conditions, or the last is not EXIT for all: %+v", n, rules)
	}
	if n := job.RetryStrategy.Attempts; n < 2 || n > 10 {
		t.Errorf("%d attempts", n)
	}
	for _, argument := range c.Command {
		if name, ok := strings.CutPrefix(argument, "Ref::"); ok && job.Parameters[name] == "" {
			t.Errorf("no parameter %s", name)
		}
	}
	if job.Type != "container" || c.User != "65532:65532" || c.JobRoleArn == "" {
		t.Errorf("%+v", job)
	}
}

// googleJob has the fields of Google Batch's Job that the file uses.
type googleJob struct {
	TaskGroups []struct {
		TaskCount, Parallelism int
		TaskSpec               struct {
			Runnables []struct {
				DisplayName string
				Container   struct {
					ImageURI string
					Commands []string
					Options  string
				}
			}
			Volumes []struct {
				NFS       struct{ Server, RemotePath string }
				MountPath string
			}
			ComputeResource   struct{ CPUMilli, MemoryMib int }
			MaxRunDuration    string
			MaxRetryCount     int
			LifecyclePolicies []struct {
				Action          string
				ActionCondition struct{ ExitCodes []int }
			}
		}
	}
	AllocationPolicy struct {
		Instances []struct {
			Policy struct{ MachineType, ProvisioningModel string }
		}
	}
	LogsPolicy struct{ Destination string }
}

// FAIL_TASK ends a task with one of its exit codes, and has all others retried; so do
// the codes from 50001, which stand for a machine that is gone. A task is retried at
// most 10 times.
func TestGoogleBatch(t *testing.T) {
	var job googleJob
	decodeStrictly(t, "google-batch.json", &job)
	group := job.TaskGroups[0]
	task := group.TaskSpec
	if len(task.LifecyclePolicies) != 1 || task.LifecyclePolicies[0].Action != "FAIL_TASK" || task.MaxRetryCount < 1 ||
		task.MaxRetryCount > 10 {
		t.Fatalf("%d retries, %+v", task.MaxRetryCount, task.LifecyclePolicies)
	}
	for code, again := range retried {
		if failed := slices.Contains(task.LifecyclePolicies[0].ActionCondition.ExitCodes, code); failed == again {
			t.Errorf("exit code %d ends the task: %t", code, failed)
		}
	}
	for i, r := range task.Runnables {
		c := r.Container
		if name := []string{"plan", "run"}[i]; c.Commands[0] != name ||
			valueOf(c.Commands, "--out") != task.Volumes[0].MountPath || !strings.Contains(c.Options,
			"--user 65532:65532 --read-only") {
			t.Errorf("runnable %d is %+v, want %s", i, r, name)
		}
	}
	plan, run := task.Runnables[0].Container, task.Runnables[1].Container
	for flag, want := range map[string]string{
		"--shards": strconv.Itoa(group.TaskCount), "--parallelism": strconv.Itoa(group.Parallelism),
		"--run": valueOf(run.Commands, "--run"),
	} {
		if got := valueOf(plan.Commands, flag); got != want {
			t.Errorf("plan %s %q, want %q", flag, got, want)
		}
	}
}

// valueOf returns the argument after a flag.
func valueOf(args []string, flag string) string {
	if i := slices.Index(args, flag); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return ""
}
