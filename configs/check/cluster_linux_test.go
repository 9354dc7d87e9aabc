package check

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

var (
	binaries = flag.String("binaries", "", "folder of etcd, kube-apiserver and kube-controller-manager")
	bin      = flag.String("bin", "", "folder of robocensus and robofarm")
	corpus   = flag.String("corpus", "",
		"folder of robots-real.tar.gz and hosts-ranked.csv; the hosts of the demo if it has none")
	work = flag.String("work", "",
		"empty folder; the tables of one machine end up in single, those of the Job in array")
)

const (
	jobsPath = "/apis/batch/v1/namespaces/default/jobs"
	run      = "r"
	shards   = 8
)

// TestJobUnderKubernetes applies the manifest to a real control plane and disturbs
// four shards. Shard 5 fails, so the Job does, and the run is incomplete. Made again
// without the cause, the Job completes the run.
func TestJobUnderKubernetes(t *testing.T) {
	if *binaries == "" {
		t.Skip("make test-kubernetes runs this test")
	}
	began := time.Now()
	say := func(format string, args ...any) {
		fmt.Fprintf(os.Stderr, "%5.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, args...))
	}
	hosts, files := hostsAndFiles(t)
	farm := startFarm(t, files)
	const agents = "- name: GPTBot\n- name: Googlebot\n- name: CCBot\n- name: Nobody\n"
	flags := map[string]any{
		"hosts": "/etc/robocensus/hosts.csv", "agents": "/etc/robocensus/agents.yaml", "schemes": "http", "connect-to": farm,
		"profile": "google,rfc9309", "keep-bodies": true,
	}
	must(t, os.WriteFile(filepath.Join(*work, "agents.yaml"), []byte(agents), 0o666))
	alone := exec.Command(filepath.Join(*bin, "robocensus"), "run", "--hosts", hosts, "--agents",
		filepath.Join(*work, "agents.yaml"), "--schemes", "http",
		"--connect-to", farm, "--profile", "google,rfc9309", "--keep-bodies", "--out", filepath.Join(*work, "single"),
		"--run", run, "--progress", "none")
	if text, err := alone.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	say("the run on one machine is complete")

	backing := startStore(t)
	api := startControlPlane(t)
	say("the control plane is ready: %s", versionOf(t, api))
	list, err := os.ReadFile(hosts)
	must(t, err)
	m := readManifest(t)
	planned := m.planned(t)
	maps.Copy(planned, flags)
	planned["concurrency"] = 10 // a shard takes a while, so that it can be disturbed
	config, err := yaml.Marshal(planned)
	must(t, err)
	m.environment.Data["RUN"] = run
	m.environment.Data["AWS_ENDPOINT_URL"] = storeURL
	m.files.Data = map[string]string{"config.yaml": string(config), "agents.yaml": agents, "hosts.csv": string(list)}

	ctx, stop := context.WithCancel(t.Context())
	d := &disturbances{t: t, say: say, api: api, out: m.environment.Data["OUT"]}
	k := &kubelet{api: api, image: makeImage(t), work: *work, before: d.before, line: d.line}
	d.kubelet = k
	done := make(chan struct{})
	go func() { k.run(ctx); close(done) }()
	defer func() { stop(); <-done; k.running.Wait() }()

	applyManifest(t, api, m)
	job := d.waitForJob()
	d.wantCodes(map[int][]int{0: {0}, 1: {75, 0}, 2: {137, 0}, 3: {74, 0}, 4: {0}, 5: {65}, 6: {0}, 7: {0}})
	if s := job.Status; conditionOf(job) != batch.JobFailed || s.CompletedIndexes != "0-4,6,7" ||
		s.FailedIndexes == nil || *s.FailedIndexes != "5" {
		t.Fatalf("the Job has the status %+v", s)
	}
	for index, want := range map[int]string{1: "0", 2: "1", 3: "1"} {
		if got := d.failures(index); got != want {
			t.Errorf("%s failures of shard %d count, want %s", got, index, want)
		}
	}
	say("the Job has failed: %s", job.Status.Conditions[len(job.Status.Conditions)-1].Message)
	if missing := d.missing(); !slices.Equal(missing, []int{5}) {
		t.Fatalf("shards %v are missing, want 5", missing)
	}

	must(t, api.do(ctx, http.MethodDelete, jobsPath+"/"+job.Name+"?propagationPolicy=Background", "", nil, nil))
	waitFor(t, "the Job is deleted", func() bool {
		var e *apiError
		return errors.As(api.get(ctx, jobsPath+"/"+job.Name, nil), &e) && e.status == http.StatusNotFound
	})
	d.began = len(k.all)
	applyManifest(t, api, m)
	job = d.waitForJob()
	if conditionOf(job) != batch.JobComplete || job.Status.CompletedIndexes != "0-7" {
		t.Fatalf("the Job has the status %+v", job.Status)
	}
	d.wantCodes(map[int][]int{0: {0}, 1: {0}, 2: {0}, 3: {0}, 4: {0}, 5: {0}, 6: {0}, 7: {0}})
	if missing := d.missing(); len(missing) > 0 {
		t.Fatalf("shards %v are missing", missing)
	}
	if len(d.complete) == 0 || d.complete[0] != 5 {
		t.Fatalf("shards %v say that the run is complete, want 5 first", d.complete)
	}
	say("shard 5 was committed last and completed the run")
	d.robocensus("verify", "--out", d.out, run)
	wantViews(t, backing, d.out)
	// DuckDB reads files. prune writes their views.
	array := filepath.Join(*work, "array")
	must(t, os.CopyFS(array, os.DirFS(backing)))
	d.robocensus("prune", "--out", array, "--keep", "1")
}

// wantViews checks that views.sql names the parts in the store that the manifest does.
func wantViews(t *testing.T, backing, out string) {
	t.Helper()
	views, err := os.ReadFile(filepath.Join(backing, "views.sql"))
	must(t, err)
	text, err := os.ReadFile(filepath.Join(backing, "_runs", run, "manifest.json"))
	must(t, err)
	named := func(pattern string, text []byte) []string {
		names := regexp.MustCompile(pattern+`([a-z]+/run=[^"']*\.parquet)`).FindAllStringSubmatch(string(text), -1)
		all := make(map[string]bool)
		for _, n := range names {
			all[n[1]] = true
		}
		return slices.Sorted(maps.Keys(all))
	}
	got, want := named("'"+regexp.QuoteMeta(out)+"/", views), named(`"`, text)
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("views.sql names the parts %q, the manifest %q", got, want)
	}
}

// applyManifest does what kubectl apply does with the manifest, of which m replaces
// the ConfigMaps, and makes the Secret.
func applyManifest(t *testing.T, api *apiServer, m *manifest) {
	t.Helper()
	all := documents(t, jobPath)
	for i, c := range []*core.ConfigMap{&m.environment, &m.files} {
		var err error
		all[i], err = yaml.Marshal(c)
		must(t, err)
	}
	secret, err := yaml.Marshal(core.Secret{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: meta.ObjectMeta{Name: m.job.Spec.Template.Spec.Containers[0].EnvFrom[1].SecretRef.Name},
		StringData: map[string]string{"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey},
	})
	must(t, err)
	const objects = "/api/v1/namespaces/default/"
	must(t, api.apply(t.Context(), objects+"secrets/robocensus", secret))
	for i, path := range []string{objects + "configmaps/" + m.environment.Name, objects + "configmaps/" + m.files.Name,
		jobsPath + "/" + m.job.Name} {
		must(t, api.apply(t.Context(), path, all[i]))
	}
}

func conditionOf(job *batch.Job) batch.JobConditionType {
	for _, c := range job.Status.Conditions {
		if c.Status == core.ConditionTrue && (c.Type == batch.JobComplete || c.Type == batch.JobFailed) {
			return c.Type
		}
	}
	return ""
}

// disturbances are what happens to the shards.
type disturbances struct {
	t       *testing.T
	say     func(format string, args ...any)
	api     *apiServer
	kubelet *kubelet
	out     string // OUT
	began   int    // number of pods when the Job was made

	mu       sync.Mutex
	once     [shards]bool
	complete []int // shards that say that the run is complete, in order
}

// first reports whether it is called for the first time for this shard.
func (d *disturbances) first(index int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	defer func() { d.once[index] = true }()
	return !d.once[index]
}

// before puts a file in place of the spool of shard 3, and other agents on the node of
// shard 5.
func (d *disturbances) before(p *pod, container string) {
	var err error
	switch {
	case p.index == 3 && container == "census" && d.first(p.index):
		if err = os.Mkdir(filepath.Join(*work, "pods", p.Name, "tmp/robocensus"), 0o755); err == nil {
			err = os.WriteFile(filepath.Join(*work, "pods", p.Name, "tmp/robocensus", run), nil, 0o666)
		}
	case p.index == 5 && container == "plan" && d.first(p.index):
		err = os.WriteFile(filepath.Join(*work, "pods", p.Name, "files/..data/agents.yaml"), []byte("- name: Other\n"), 0o666)
	}
	if err != nil {
		d.kubelet.fail(fmt.Errorf("disturb shard %d: %w", p.index, err))
	}
}

var underWay = regexp.MustCompile(`fetched=\d\d`)

// line evicts the pod of shard 1 and kills shard 2 once they are under way.
func (d *disturbances) line(p *pod, container, text string) {
	d.t.Logf("%s %s: %s", p.Name, container, text)
	if strings.HasPrefix(text, "all shards are committed") {
		d.mu.Lock()
		d.complete = append(d.complete, p.index)
		d.mu.Unlock()
	}
	if p.index == 5 && strings.Contains(text, "differ") {
		d.say("shard 5: %s", text)
	}
	if p.index == 3 && strings.Contains(text, "is not a folder") {
		d.say("shard 3: %s", text)
	}
	if !underWay.MatchString(text) || (p.index != 1 && p.index != 2) || !d.first(p.index) {
		return
	}
	if p.index == 2 {
		d.kubelet.kill(p)
		d.say("shard 2: SIGKILL")
		return
	}
	eviction := map[string]any{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": meta.ObjectMeta{Name: p.Name}}
	if err := d.api.post(d.t.Context(), podsPath+"/"+p.Name+"/eviction", eviction); err != nil {
		d.kubelet.fail(err)
	}
	d.say("shard 1: evicted")
}

// waitForJob waits until the Job has ended.
func (d *disturbances) waitForJob() *batch.Job {
	d.t.Helper()
	var job batch.Job
	waitFor(d.t, "the Job has ended", func() bool {
		must(d.t, d.kubelet.err())
		job = batch.Job{}
		must(d.t, d.api.get(d.t.Context(), jobsPath+"/robocensus", &job))
		return conditionOf(&job) != ""
	})
	return &job
}

// wantCodes checks how the pods of the Job ended, by shard.
func (d *disturbances) wantCodes(want map[int][]int) {
	d.t.Helper()
	d.kubelet.mu.Lock()
	defer d.kubelet.mu.Unlock()
	got := make(map[int][]int)
	for _, p := range d.kubelet.all[d.began:] {
		got[p.index] = append(got[p.index], p.exitCode)
	}
	for i := range shards {
		d.say("shard %d: exit codes %s", i, strings.Trim(fmt.Sprint(got[i]), "[]"))
		if !slices.Equal(got[i], want[i]) {
			d.t.Errorf("shard %d ended with %v, want %v", i, got[i], want[i])
		}
	}
}

// failures returns how many failures of a shard have counted when its last pod began.
func (d *disturbances) failures(index int) (count string) {
	d.kubelet.mu.Lock()
	defer d.kubelet.mu.Unlock()
	for _, p := range d.kubelet.all {
		if p.index == index {
			count = p.Annotations["batch.kubernetes.io/job-index-failure-count"]
		}
	}
	return count
}

// robocensus runs a command and returns what it prints.
func (d *disturbances) robocensus(args ...string) []byte {
	d.t.Helper()
	c := exec.Command(filepath.Join(*bin, "robocensus"), args...)
	var errors strings.Builder
	c.Stderr = &errors
	text, err := c.Output()
	if err != nil {
		d.t.Fatalf("robocensus %q: %v: %s%s", args, err, text, &errors)
	}
	return text
}

// missing returns the shards that robocensus runs calls missing or under way.
func (d *disturbances) missing() []int {
	d.t.Helper()
	text := d.robocensus("runs", "--json", "--out", d.out)
	var runs []struct {
		State  string
		Shards struct {
			Committed int
			UnderWay  []int `json:"under_way"`
			Missing   []int
		}
	}
	must(d.t, json.Unmarshal(text, &runs))
	if len(runs) != 1 {
		d.t.Fatalf("runs: %s", text)
	}
	s := runs[0].Shards
	missing := append(s.Missing, s.UnderWay...)
	if complete := runs[0].State == "complete"; complete != (len(missing) == 0) {
		d.t.Fatalf("the state is %s, but shards %v are missing", runs[0].State, missing)
	}
	d.say("the run is %s: %d of %d shards are committed", runs[0].State, s.Committed, shards)
	return missing
}
