package check

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every way to run shards tries the same exit codes again: those of the table in the
// README.
func TestExitCodesThatAreTriedAgain(t *testing.T) {
	readme := read(t, "../deploy/README.md")
	var want []string
	for _, row := range regexp.MustCompile(`(?m)^\| ([0-9, ]+) \| yes: `).FindAllStringSubmatch(readme, -1) {
		want = append(want, strings.Split(row[1], ", ")...)
	}
	if !slices.Equal(want, []string{"69", "74", "75", "137"}) {
		t.Fatalf("the README says that %q are worth another try", want)
	}
	for path, pattern := range map[string]string{
		"../deploy/shards.mk":               `case \$\$code in ([0-9 |]+)\)`,
		"../deploy/robocensus.nf":           `(?m)^retried = \[([0-9, ]+)\]$`,
		"../deploy/robocensus_dag.py":       `(?m)^RETRIED = \{([0-9, ]+), -9\}$`,
		"../deploy/slurm/robocensus.sbatch": `(?m)^([0-9 |]+)\)$`,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(read(t, path))
		if m == nil {
			t.Errorf("%s names no exit codes", path)
			continue
		}
		if got := regexp.MustCompile(`[0-9]+`).FindAllString(m[1], -1); !slices.Equal(got, want) {
			t.Errorf("%s tries %q again, want %q", path, got, want)
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return string(text)
}

// The workflow of Nextflow is Groovy.
func TestNextflowIsGroovy(t *testing.T) {
	groovy, err := exec.LookPath("groovy")
	java, err2 := exec.LookPath("java")
	if err != nil || err2 != nil {
		t.Skip("no groovy (Debian has it), which parses the workflow")
	}
	java, err = filepath.EvalSymlinks(java)
	must(t, err)
	parse := filepath.Join(t.TempDir(), "parse.groovy")
	must(t, os.WriteFile(parse, []byte("import org.codehaus.groovy.control.*\ndef u = new CompilationUnit()\n"+
		"u.addSource(new File(args[0]))\nu.compile(Phases.CONVERSION)\n"), 0o666))
	c := exec.Command(groovy, parse, "../deploy/robocensus.nf")
	c.Env = append(os.Environ(), "JAVA_HOME="+filepath.Dir(filepath.Dir(java)))
	if text, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, text)
	}
}

// airflow stands in for the few names of Airflow that the DAG uses. It runs the DAG's
// functions with the exit codes of the arguments.
const airflow = `
import json, runpy, subprocess, sys, types

class AirflowException(Exception): pass
class AirflowFailException(AirflowException): pass

tasks, flow = {}, []
class Node:
    def __init__(self, name): self.name = name
    def __rshift__(self, other): flow.append([self.name, other.name]); return other

def task(function=None, **options):
    if function is None:
        return lambda function: task(function, **options)
    def call(**mapped):
        tasks[function.__name__] = {"function": function, "options": options, "mapped": {k: len(v) for k, v in mapped.items()}}
        return Node(function.__name__)
    call.expand = call
    return call

def dag(**options):
    def of(function):
        def call():
            tasks["dag"] = {"options": {k: str(v) for k, v in options.items()}}
            function()
        return call
    return of

exceptions, sdk = types.ModuleType("airflow.exceptions"), types.ModuleType("airflow.sdk")
exceptions.AirflowException, exceptions.AirflowFailException = AirflowException, AirflowFailException
sdk.dag, sdk.task = dag, task
sys.modules.update({"airflow": types.ModuleType("airflow"), "airflow.exceptions": exceptions, "airflow.sdk": sdk})

names = runpy.run_path(sys.argv[1])
ended, asked = {}, []
for code in map(int, sys.argv[2:]):
    def run(words, check):
        asked.append(words)
        return types.SimpleNamespace(returncode=code)
    subprocess.run = run
    try:
        tasks["shard"]["function"](3, ds="2026-11-20")
        ended[code] = "done"
    except AirflowFailException: ended[code] = "fail"
    except AirflowException: ended[code] = "retry"
print(json.dumps({"ended": ended, "asked": asked[0], "flow": flow, "shards": tasks["shard"]["mapped"]["index"], "at_once": tasks["shard"]["options"]["max_active_tis_per_dagrun"],
    "retries": names["RETRIES"]["retries"], "tasks": sorted(tasks)}))
`

// The DAG of Airflow tries a shard again where that helps, and fails at once where not.
func TestAirflow(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3, which reads the DAG")
	}
	stand := filepath.Join(t.TempDir(), "airflow_stand_in.py")
	must(t, os.WriteFile(stand, []byte(airflow), 0o666))
	c := exec.Command(python, stand, "../deploy/robocensus_dag.py", "0", "64", "65", "69", "74", "75", "137", "-9", "1",
		"130")
	c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var said struct {
		Ended           map[string]string
		Asked, Tasks    []string
		Flow            [][]string
		Shards, Retries int
		AtOnce          int `json:"at_once"`
	}
	must(t, json.Unmarshal(text, &said))
	for code, want := range map[string]string{
		"0": "done", "64": "fail", "65": "fail", "69": "retry", "74": "retry", "75": "retry", "137": "retry", "-9": "retry",
		"1": "fail", "130": "fail",
	} {
		if said.Ended[code] != want {
			t.Errorf("exit code %s: %s, want %s", code, said.Ended[code], want)
		}
	}
	if want := []string{"robocensus", "run", "--out", "/shared/census", "--run", "2026-11-20", "--shard", "3",
		"--progress", "log"}; !slices.Equal(said.Asked, want) {
		t.Errorf("a shard runs %q", said.Asked)
	}
	if len(said.Flow) != 2 || !slices.Equal(said.Flow[0], []string{"plan", "shard"}) || !slices.Equal(said.Flow[1],
		[]string{"shard", "verify"}) || said.Shards < 2 || said.AtOnce > said.Shards || said.Retries < 1 {
		t.Errorf("the DAG is %s", text)
	}
}
