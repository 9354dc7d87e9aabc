// Package s3server runs real S3 servers on loopback, for tests: versitygw or MinIO over
// a folder, each of whose folders is a bucket.
package s3server

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Server is a running server.
type Server struct {
	Dir string // with the buckets, and their objects as files
	URL string

	stop func()
}

const versitygw = "github.com/versity/versitygw/cmd/versitygw"

// Build builds versitygw from the module in the folder module, so that Go has it in its
// cache when a server starts.
func Build(module string) error {
	_, err := build(module, versitygw)
	return err
}

// Start builds versitygw from the module in the folder module, unless Go has it in
// its cache, and runs it over a new folder in scratch. The caller stops it.
func Start(module, scratch string) (*Server, error) {
	about, err := os.MkdirTemp(scratch, "about-") // not every file system has extended attributes
	if err != nil {
		return nil, err
	}
	return start(module, versitygw, scratch, func(addr, dir string) []string {
		return []string{"--quiet", "--port", addr, "posix", "--sidecar", about, dir}
	})
}

// StartMinIO does the same with MinIO.
func StartMinIO(module, scratch string) (*Server, error) {
	return start(module, "github.com/minio/minio", scratch, func(addr, dir string) []string {
		return []string{"server", "--quiet", "--address", addr, dir}
	})
}

func start(module, tool, scratch string, args func(addr, dir string) []string) (*Server, error) {
	program, err := build(module, tool)
	if err != nil {
		return nil, err
	}
	s := &Server{}
	if s.Dir, err = os.MkdirTemp(scratch, "buckets-"); err != nil {
		return nil, err
	}
	for range 5 { // another process may take the port
		if err = s.start(program, args); err == nil {
			return s, nil
		}
	}
	return nil, err
}

// build returns the program of a tool of a module.
func build(module, tool string) (string, error) {
	c := exec.Command("go", "tool", "-n", tool)
	c.Dir, c.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	c.Stderr = os.Stderr
	program, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("build %s: %w", tool, err)
	}
	return strings.TrimSpace(string(program)), nil
}

func (s *Server) start(program string, args func(addr, dir string) []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	addr := l.Addr().String()
	l.Close()
	s.URL = "http://" + addr
	c := exec.Command(program, args(addr, s.Dir)...)
	c.Env = append(os.Environ(), "ROOT_ACCESS_KEY=test", "ROOT_SECRET_KEY=testtest", "MINIO_ROOT_USER=test",
		"MINIO_ROOT_PASSWORD=testtest", "MINIO_UPDATE=off", "MINIO_BROWSER=off")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { c.Wait(); close(ended) }()
	s.stop = func() { c.Process.Kill(); <-ended }
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		select {
		case <-ended:
			return fmt.Errorf("%s ended: %v\n%s", program, c.ProcessState, &said)
		default:
		}
		if a, err := http.Get(s.URL); err == nil {
			a.Body.Close()
			return nil
		}
	}
	s.stop()
	return fmt.Errorf("%s does not answer", program)
}

// Stop ends the server.
func (s *Server) Stop() { s.stop() }

// Environment returns the environment of a client of a server at a URL, which asks
// and reads nothing else.
func Environment(url string) []string {
	return []string{
		"AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=testtest", "AWS_ENDPOINT_URL=" + url,
		"AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
}

// Bucket creates a bucket, and returns its URL.
func (s *Server) Bucket(name string) (string, error) {
	return "s3://" + name, os.Mkdir(filepath.Join(s.Dir, name), 0o777)
}
