package s3

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/internal/s3server"
	"github.com/robocensus/robocensus/sink/store"
)

var (
	server *s3server.Server
	faulty *proxy // between the clients of this process and the server
)

// The test binary is its own child: a process that puts an object.
func TestMain(m *testing.M) {
	if url := os.Getenv("PUT_TO"); url != "" {
		if err := putAsChild(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	flag.Set("test.parallel", "32") // tests wait more than they compute
	code, err := func() (int, error) {
		scratch, err := os.MkdirTemp("", "robocensus-s3-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(scratch)
		if server, err = s3server.Start(".", scratch); err != nil {
			return 1, err
		}
		defer server.Stop()
		if faulty, err = newProxy(server.URL); err != nil {
			return 1, err
		}
		defer faulty.close()
		for _, setting := range s3server.Environment(faulty.url) {
			name, value, _ := strings.Cut(setting, "=")
			os.Setenv(name, value)
		}
		return runQuietly(scratch, m.Run)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// runQuietly fails if the client writes to standard error: there the command shows its
// progress.
func runQuietly(scratch string, run func() int) (code int, err error) {
	stderr := os.Stderr
	defer func() { os.Stderr = stderr }()
	name := filepath.Join(scratch, "stderr")
	if os.Stderr, err = os.Create(name); err != nil {
		return 1, err
	}
	code = run()
	os.Stderr.Close()
	text, err := os.ReadFile(name)
	if err == nil && len(text) > 0 {
		err = fmt.Errorf("written to standard error:\n%s", text)
	}
	if err != nil {
		code = 1
	}
	return code, err
}

// putAsChild puts an object named after each line of standard input, and says whether
// it won.
func putAsChild(url string) error {
	s, err := store.Create(context.Background(), url)
	if err != nil {
		return err
	}
	defer s.Close()
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		won, err := s.Put(lines.Text(), fmt.Append(nil, os.Getpid()))
		if err != nil {
			return err
		}
		fmt.Println(won)
	}
	return nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// bucket creates a bucket whose requests meet no faults.
func bucket(t testing.TB, name string) (url string) {
	t.Helper()
	url, err := server.Bucket(name)
	must(t, err)
	return url
}
