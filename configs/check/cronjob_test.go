package check

import (
	"slices"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
)

// TestCronJob checks what the types do not: enumerated values, references, and the
// assumptions of weekly.sh.
func TestCronJob(t *testing.T) {
	var claim core.PersistentVolumeClaim
	var job batch.CronJob
	decode(t, "../schedule/cronjob.yaml", &claim, &job)
	jobSpec := job.Spec.JobTemplate.Spec
	pod := jobSpec.Template.Spec
	if len(pod.Containers) != 1 {
		t.Fatalf("%d containers, want 1", len(pod.Containers))
	}
	c := pod.Containers[0]
	memory, limit := c.Resources.Requests[core.ResourceMemory], c.Resources.Limits[core.ResourceMemory]
	for what, ok := range map[string]bool{
		"kinds": claim.APIVersion == "v1" && claim.Kind == "PersistentVolumeClaim" &&
			job.APIVersion == "batch/v1" && job.Kind == "CronJob",
		"one at a time":                  job.Spec.ConcurrencyPolicy == batch.ForbidConcurrent,
		"in UTC, as the weeks are named": job.Spec.TimeZone != nil && *job.Spec.TimeZone == "Etc/UTC",
		"the time of the timer":          job.Spec.Schedule == "17 3 * * 1",
		"over before the next":           jobSpec.ActiveDeadlineSeconds != nil && *jobSpec.ActiveDeadlineSeconds < 7*24*3600,
		"a failure policy needs Never":   jobSpec.PodFailurePolicy != nil && pod.RestartPolicy == core.RestartPolicyNever,
		"not root": pod.SecurityContext != nil && *pod.SecurityContext.RunAsNonRoot &&
			*pod.SecurityContext.RunAsUser > 0,
		"a volume that it may write to": pod.SecurityContext.FSGroup != nil &&
			*pod.SecurityContext.FSGroup == *pod.SecurityContext.RunAsGroup,
		"the usual system calls": pod.SecurityContext.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault,
		"no token":               pod.AutomountServiceAccountToken != nil && !*pod.AutomountServiceAccountToken,
		"no way up": !*c.SecurityContext.AllowPrivilegeEscalation &&
			*c.SecurityContext.ReadOnlyRootFilesystem && slices.Contains(c.SecurityContext.Capabilities.Drop, "ALL"),
		"memory": !memory.IsZero() && limit.Cmp(memory) >= 0,
	} {
		if !ok {
			t.Errorf("%s: not so", what)
		}
	}
	actions := make(map[batch.PodFailurePolicyAction]bool)
	codes := map[batch.PodFailurePolicyAction][]int32{
		batch.PodFailurePolicyActionFailJob: {1, 64, 65}, // another attempt would fail too
		batch.PodFailurePolicyActionIgnore:  {69, 75},    // the network, which may be gone for days
	}
	for _, rule := range jobSpec.PodFailurePolicy.Rules {
		actions[rule.Action] = true
		if e := rule.OnExitCodes; e != nil {
			if e.ContainerName == nil || *e.ContainerName != c.Name || e.Operator != batch.PodFailurePolicyOnExitCodesOpIn ||
				!slices.Equal(e.Values, codes[rule.Action]) {
				t.Errorf("exit codes %+v, want %v", e, codes[rule.Action])
			}
		}
		for _, p := range rule.OnPodConditions {
			if p.Type != core.DisruptionTarget || p.Status != core.ConditionTrue {
				t.Errorf("condition %+v", p)
			}
		}
	}
	if len(actions) != 2 || !actions[batch.PodFailurePolicyActionFailJob] || !actions[batch.PodFailurePolicyActionIgnore] {
		t.Errorf("actions %v", actions)
	}

	volumes := make(map[string]core.Volume)
	for _, v := range pod.Volumes {
		volumes[v.Name] = v
	}
	mounts := make(map[string]core.Volume)
	for _, m := range c.VolumeMounts {
		v, ok := volumes[m.Name]
		if !ok {
			t.Errorf("%s: no volume %s", m.MountPath, m.Name)
		}
		mounts[m.MountPath] = v
	}
	if v := mounts["/var/lib/robocensus"].PersistentVolumeClaim; v == nil || v.ClaimName != claim.Name {
		t.Errorf("the tables are on %+v, want the claim %s", v, claim.Name)
	}
	if mounts["/etc/robocensus"].ConfigMap == nil {
		t.Error("the script is not mounted")
	}
	if want := []string{"sh", "/etc/robocensus/weekly.sh", "/var/lib/robocensus",
		"/etc/robocensus/hosts.csv"}; !slices.Equal(c.Command, want) {
		t.Errorf("command %q, want %q", c.Command, want)
	}
}
