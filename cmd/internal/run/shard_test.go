package run

import (
	"testing"

	"github.com/robocensus/robocensus/fetch/client"
)

// The index of a task counts from 0, whatever the scheduler counts from.
func TestIndexOfATask(t *testing.T) {
	for _, c := range []struct {
		env   map[string]string
		index int
		name  string
		bad   bool
	}{
		{nil, 0, "", false},
		{map[string]string{"JOB_COMPLETION_INDEX": "7"}, 7, "JOB_COMPLETION_INDEX", false},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "7"}, 7, "SLURM_ARRAY_TASK_ID", false},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "1"}, 6, "SLURM_ARRAY_TASK_ID", false},
		{map[string]string{"SLURM_ARRAY_TASK_ID": "7", "SLURM_ARRAY_TASK_MIN": "8"}, 0, "SLURM_ARRAY_TASK_ID", true},
		{map[string]string{"AWS_BATCH_JOB_ARRAY_INDEX": "0"}, 0, "AWS_BATCH_JOB_ARRAY_INDEX", false},
		{map[string]string{"BATCH_TASK_INDEX": "12"}, 12, "BATCH_TASK_INDEX", false},
		{map[string]string{"JOB_COMPLETION_INDEX": ""}, 0, "JOB_COMPLETION_INDEX", true},
		{map[string]string{"JOB_COMPLETION_INDEX": "-1"}, 0, "JOB_COMPLETION_INDEX", true},
	} {
		index, name, err := indexOf(func(name string) (string, bool) { v, ok := c.env[name]; return v, ok })
		if name != c.name || (err != nil) != c.bad || err == nil && index != c.index {
			t.Errorf("%v: index %d of %q, %v", c.env, index, name, err)
		}
	}
}

// Limits that hold for all shards are divided; those of a domain are not.
func TestShardsShareLimits(t *testing.T) {
	f := New()
	f.shards, f.parallel = 10, 4
	c := client.Config{Rate: 100, AddressRate: 8, PerAddress: 4, PerDomain: 8}
	f.divide(&c)
	if c.Rate != 25 || c.AddressRate != 2 || c.PerAddress != 1 || c.PerDomain != 8 {
		t.Errorf("%v requests a second, %v to an address; %d at once to an address, %d to a domain", c.Rate, c.AddressRate,
			c.PerAddress, c.PerDomain)
	}
}

// The shards that run at once share the pace of archives, and are never more than there
// are.
func TestShardsShareThePaceOfArchives(t *testing.T) {
	for _, c := range []struct {
		shards, parallel int
		rate             float64
		atOnce           int
	}{{1, 0, 12, 6}, {3, 0, 4, 2}, {10, 4, 3, 1}, {3, 100, 4, 2}, {100, 0, 0.12, 1}} {
		f := New()
		f.shards, f.parallel, f.archiveRate = c.shards, c.parallel, archiveRate{12, 6}
		if p := f.archiveLimits(); p.Rate != c.rate || p.AtOnce != c.atOnce {
			t.Errorf("%d shards, %d at once: %v requests a second, %d at once", c.shards, c.parallel, p.Rate, p.AtOnce)
		}
	}
}
