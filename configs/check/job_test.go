package check

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

const jobPath = "../deploy/kubernetes/robocensus.yaml"

// manifest is what the manifest of the Indexed Job holds.
type manifest struct {
	environment, files core.ConfigMap
	job                batch.Job
}

func readManifest(t *testing.T) *manifest {
	t.Helper()
	var m manifest
	decode(t, jobPath, &m.environment, &m.files, &m.job)
	return &m
}

// planned returns the flags that the manifest gives to plan.
func (m *manifest) planned(t *testing.T) map[string]any {
	t.Helper()
	flags := make(map[string]any)
	must(t, yaml.Unmarshal([]byte(m.files.Data["config.yaml"]), &flags))
	return flags
}

// TestIndexedJob checks what the types do not: sizes that belong together, the answer
// to each exit code, references, and the image that the Containerfile makes.
func TestIndexedJob(t *testing.T) {
	m := readManifest(t)
	job, pod := m.job.Spec, m.job.Spec.Template.Spec
	if len(pod.InitContainers) != 1 || len(pod.Containers) != 1 {
		t.Fatalf("%d init containers and %d containers, want 1 and 1", len(pod.InitContainers), len(pod.Containers))
	}
	plan, census := pod.InitContainers[0], pod.Containers[0]
	flags := m.planned(t)
	memory, limit := census.Resources.Requests[core.ResourceMemory], census.Resources.Limits[core.ResourceMemory]
	for what, ok := range map[string]bool{
		"an index for each shard": *job.CompletionMode == batch.IndexedCompletion &&
			fmt.Sprint(flags["shards"]) == fmt.Sprint(*job.Completions),
		"limits are divided": fmt.Sprint(flags["parallelism"]) == fmt.Sprint(*job.Parallelism),
		"one index fails alone": job.BackoffLimitPerIndex != nil && *job.BackoffLimitPerIndex > 0 &&
			*job.MaxFailedIndexes > 0 && *job.MaxFailedIndexes < *job.Completions,
		"pods are not restarted":     pod.RestartPolicy == core.RestartPolicyNever,
		"time for --grace":           time.Duration(*pod.TerminationGracePeriodSeconds)*time.Second > 2*10*time.Second,
		"not root":                   *pod.SecurityContext.RunAsNonRoot && *pod.SecurityContext.RunAsUser > 0,
		"a volume that it may write": *pod.SecurityContext.FSGroup == *pod.SecurityContext.RunAsGroup,
		"the usual system calls":     pod.SecurityContext.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault,
		"no token":                   !*pod.AutomountServiceAccountToken,
		"memory":                     !memory.IsZero() && limit.Cmp(memory) >= 0,
		"a bucket that all pods write": strings.HasPrefix(m.environment.Data["OUT"], "s3://") &&
			m.environment.Data["AWS_REGION"] != "",
		"the plan comes first":          plan.Args[0] == "plan" && census.Args[0] == "run",
		"one image, with an entrypoint": plan.Image == census.Image && plan.Command == nil && census.Command == nil,
	} {
		if !ok {
			t.Errorf("%s: not so", what)
		}
	}
	for name, want := range map[string]bool{"OUT": true, "RUN": true, "hosts.csv": false, "config.yaml": false} {
		if _, in := m.environment.Data[name]; in != want {
			t.Errorf("%s in the environment: %t", name, in)
		}
	}
	for _, key := range []string{"hosts", "agents", "urls"} {
		path, _ := flags[key].(string)
		if name, ok := strings.CutPrefix(path, "/etc/robocensus/"); ok && m.files.Data[name] == "" {
			t.Errorf("%s: no file %s", key, name)
		}
	}
	volumes := make(map[string]core.VolumeSource)
	for _, v := range pod.Volumes {
		volumes[v.Name] = v.VolumeSource
	}
	for _, c := range []core.Container{plan, census} {
		s := c.SecurityContext
		if *s.AllowPrivilegeEscalation || !*s.ReadOnlyRootFilesystem || !slices.Equal(s.Capabilities.Drop, []core.Capability{
			"ALL"}) {
			t.Errorf("%s: %+v", c.Name, s)
		}
		if len(c.EnvFrom) != 2 || c.EnvFrom[0].ConfigMapRef.Name != m.environment.Name || !*c.EnvFrom[1].SecretRef.Optional {
			t.Errorf("%s: environment %+v", c.Name, c.EnvFrom)
		}
		mounts := make(map[string]core.VolumeSource)
		for _, v := range c.VolumeMounts {
			mounts[v.MountPath] = volumes[v.Name]
		}
		if v := mounts["/etc/robocensus"].ConfigMap; v == nil || v.Name != m.files.Name {
			t.Errorf("%s: /etc/robocensus is not the files", c.Name)
		}
		if mounts["/tmp"].EmptyDir == nil {
			t.Errorf("%s: /tmp cannot be written", c.Name)
		}
		// Kubernetes leaves a variable that it does not know as it stands.
		for _, v := range regexp.MustCompile(`\$\((\w+)\)`).FindAllStringSubmatch(strings.Join(c.Args, " "), -1) {
			if m.environment.Data[v[1]] == "" {
				t.Errorf("%s: no variable %s", c.Name, v[1])
			}
		}
	}
}

// The first rule that matches decides. What no rule matches is retried.
func TestIndexedJobAfterAFailure(t *testing.T) {
	policy := readManifest(t).job.Spec.PodFailurePolicy
	for _, c := range []struct {
		name      string
		code      int32
		disrupted bool
		want      batch.PodFailurePolicyAction
	}{
		{"usage", 64, false, batch.PodFailurePolicyActionFailIndex},
		{"bad input", 65, false, batch.PodFailurePolicyActionFailIndex},
		{"no host could be reached", 69, false, batch.PodFailurePolicyActionCount},
		{"a disk", 74, false, batch.PodFailurePolicyActionCount},
		{"no network", 75, false, batch.PodFailurePolicyActionCount},
		{"SIGKILL", 137, false, batch.PodFailurePolicyActionCount},
		{"a drained node", 75, true, batch.PodFailurePolicyActionIgnore},
		{"a lost node", 137, true, batch.PodFailurePolicyActionIgnore},
	} {
		got := batch.PodFailurePolicyActionCount
		for _, rule := range policy.Rules {
			if e := rule.OnExitCodes; e != nil && e.ContainerName == nil &&
				(e.Operator == batch.PodFailurePolicyOnExitCodesOpIn) == slices.Contains(e.Values, c.code) ||
				c.disrupted && slices.ContainsFunc(rule.OnPodConditions, func(p batch.PodFailurePolicyOnPodConditionsPattern) bool {
					return p.Type == core.DisruptionTarget && p.Status == core.ConditionTrue
				}) {
				got = rule.Action
				break
			}
		}
		if got != c.want {
			t.Errorf("%s, exit code %d: %s, want %s", c.name, c.code, got, c.want)
		}
	}
}

// The image starts robocensus as the user of the manifest.
func TestImage(t *testing.T) {
	user := fmt.Sprintf("USER %d:%[1]d", *readManifest(t).job.Spec.Template.Spec.SecurityContext.RunAsUser)
	text := string(documents(t, "../deploy/Containerfile")[0])
	_, last, _ := strings.Cut(text, "\nFROM scratch\n")
	if want := "COPY --from=build /image /\nENV XDG_CACHE_HOME=/tmp\n" + user + "\n" + `ENTRYPOINT ["/robocensus"]` +
		"\n"; last != want {
		t.Errorf("the image has\n%s\nwant\n%s", last, want)
	}
	if !strings.Contains(text, "ADD release/robocensus_${VERSION}_linux_${TARGETARCH}.tar.gz") ||
		!strings.Contains(text, "ca-certificates.crt") {
		t.Error("the image lacks the binary of a release or certificates")
	}
}
