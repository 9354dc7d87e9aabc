package check

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// hostsAndFiles returns the list of hosts and their robots.txt files.
func hostsAndFiles(t *testing.T) (hosts, files string) {
	t.Helper()
	hosts, files = filepath.Join(*corpus, "hosts-ranked.csv"), filepath.Join(*corpus, "robots-real.tar.gz")
	if _, err := os.Stat(files); err == nil {
		return hosts, files
	}
	fmt.Fprintf(os.Stderr, "no corpus in %s: the hosts of the demo serve\n", *corpus)
	files = "../../testdata/demo/hosts"
	entries, err := os.ReadDir(files)
	must(t, err)
	var list strings.Builder
	for _, e := range entries {
		fmt.Fprintln(&list, e.Name())
	}
	for i := range 4000 { // enough hosts that no file exists for, to be interrupted at
		fmt.Fprintf(&list, "none%d.example\n", i)
	}
	hosts = filepath.Join(*work, "hosts.csv")
	must(t, os.WriteFile(hosts, []byte(list.String()), 0o666))
	return hosts, files
}

// startFarm serves the files and returns the address.
func startFarm(t *testing.T, files string) string {
	t.Helper()
	addrFile := filepath.Join(*work, "farm")
	start(t, "", filepath.Join(*bin, "robofarm"), "serve", "--dir", files, "--http", "127.0.0.1:0", "--addr-file",
		addrFile, "--latency", "uniform:100ms-500ms")
	var address string
	waitFor(t, "the farm answers", func() bool {
		text, _ := os.ReadFile(addrFile)
		address = strings.TrimPrefix(strings.TrimSpace(string(text)), "http://")
		return address != ""
	})
	return address
}

// makeImage makes a folder with what the Containerfile puts in the image.
func makeImage(t *testing.T) string {
	t.Helper()
	image := filepath.Join(*work, "image")
	must(t, os.MkdirAll(filepath.Join(image, "etc/ssl/certs"), 0o755))
	must(t, os.Mkdir(filepath.Join(image, "tmp"), 0o755))
	binary, err := os.ReadFile(filepath.Join(*bin, "robocensus"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(image, "robocensus"), binary, 0o755))
	return image
}

// The S3 server and its keys.
const (
	storeAddress = "127.0.0.1:17070"
	storeURL     = "http://" + storeAddress
	accessKey    = "test"
	secretKey    = "testtest"
)

// startStore starts an S3 server with the bucket and folder of the manifest, and
// returns the folder where it keeps their objects as files. Commands that the test
// runs use it.
func startStore(t *testing.T) (backing string) {
	t.Helper()
	environment := readManifest(t).environment.Data
	for name, value := range map[string]string{
		"AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey, "AWS_ENDPOINT_URL": storeURL,
		"AWS_REGION": environment["AWS_REGION"],
	} {
		t.Setenv(name, value)
	}
	buckets := filepath.Join(*work, "buckets")
	bucket, folder, _ := strings.Cut(strings.TrimPrefix(environment["OUT"], "s3://"), "/")
	must(t, os.MkdirAll(filepath.Join(buckets, bucket), 0o777))
	start(t, "versitygw.log", filepath.Join(*binaries, "versitygw"), "--port", storeAddress, "--access", accessKey,
		"--secret", secretKey, "--region", environment["AWS_REGION"], "posix", buckets)
	waitFor(t, "the store answers", func() bool {
		answer, err := http.Get(storeURL)
		if err == nil {
			answer.Body.Close()
		}
		return err == nil
	})
	return filepath.Join(buckets, bucket, folder)
}

// startControlPlane starts etcd, the API server, and the controllers of Jobs and of
// garbage.
func startControlPlane(t *testing.T) *apiServer {
	t.Helper()
	const etcd, peers, token = "http://127.0.0.1:12379", "http://127.0.0.1:12380", "test"
	keys := filepath.Join(*work, "keys")
	must(t, os.Mkdir(keys, 0o700))
	if text, err := exec.Command("openssl", "genrsa", "-out", filepath.Join(keys, "sa.key"),
		"2048").CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v: %s", err, text)
	}
	must(t, os.WriteFile(filepath.Join(keys, "tokens.csv"), []byte(token+`,admin,admin,"system:masters"`+"\n"), 0o600))
	start(t, "etcd.log", filepath.Join(*binaries, "etcd"), "--data-dir", filepath.Join(*work, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
		"--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	start(t, "kube-apiserver.log", filepath.Join(*binaries, "kube-apiserver"), "--etcd-servers", etcd, "--cert-dir", keys,
		"--bind-address", "127.0.0.1", "--secure-port", "16443", "--advertise-address", "192.0.2.1",
		"--endpoint-reconciler-type", "none",
		"--service-account-issuer", "https://test.invalid", "--service-account-key-file", filepath.Join(keys, "sa.key"),
		"--service-account-signing-key-file", filepath.Join(keys, "sa.key"),
		"--token-auth-file", filepath.Join(keys, "tokens.csv"), "--authorization-mode", "AlwaysAllow",
		"--service-cluster-ip-range", "10.0.0.0/24", "--disable-admission-plugins", "ServiceAccount")
	api := newAPIServer("https://127.0.0.1:16443", token)
	waitFor(t, "the API server is ready", func() bool {
		return api.get(t.Context(), "/readyz", nil) == nil && api.get(t.Context(), "/api/v1/namespaces/default", nil) == nil
	})
	config := filepath.Join(keys, "config.yaml")
	must(t, os.WriteFile(config, []byte(`
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "`+api.url+`", insecure-skip-tls-verify: true}}]
users: [{name: admin, user: {token: `+token+`}}]
contexts: [{name: test, context: {cluster: test, user: admin}}]
current-context: test
`), 0o600))
	start(t, "kube-controller-manager.log", filepath.Join(*binaries, "kube-controller-manager"), "--kubeconfig", config,
		"--controllers", "job-controller,garbage-collector-controller", "--leader-elect=false", "--bind-address", "127.0.0.1")
	return api
}

func versionOf(t *testing.T, api *apiServer) string {
	var version struct{ GitVersion string }
	must(t, api.get(t.Context(), "/version", &version))
	return version.GitVersion
}

// start starts a server until the test ends. Its output goes to a file of that name,
// if any, which is shown if the test fails.
func start(t *testing.T, log, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	path := filepath.Join(*work, log)
	if log != "" {
		f, err := os.Create(path)
		must(t, err)
		defer f.Close()
		c.Stdout, c.Stderr = f, f
	}
	must(t, c.Start())
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		if t.Failed() && log != "" {
			text, _ := os.ReadFile(path)
			t.Logf("%s ends with\n%s", log, text[max(0, len(text)-1000):])
		}
	})
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !holds(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not so within 5 minutes", what)
		}
	}
}
