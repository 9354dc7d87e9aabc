package pipeline

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"goftp.io/server/v2"
	"goftp.io/server/v2/driver/file"
)

// The 2019 documents: a file retrieved by FTP as a guest speaks for the FTP
// origin.
func TestRunOverFTP(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "robots.txt"), []byte("User-agent: *\nDisallow: /private\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	driver, err := file.NewDriver(root)
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.NewServer(&server.Options{
		Driver: driver, Auth: everyone{}, Perm: server.NewSimplePerm("a", "a"), Logger: &server.DiscardLogger{},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { s.Serve(l); close(done) }()
	defer func() { l.Close(); <-done }()

	c := newConfig(t, nil, "ftp://a.example:21/private/x\n")
	c.Fetch.ConnectTo = netip.MustParseAddrPort(l.Addr().String())
	c.Evaluate.Samples = c.Evaluate.Samples[:1]
	if _, err := Run(context.Background(), c, new(Progress)); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		table, column string
		want          []string
	}{
		{"fetches", "robots_url", []string{"ftp://a.example/robots.txt"}},
		{"fetches", "outcome", []string{"conditional_allow"}},
		{"verdicts", "verdict", []string{"allow", "disallow", "allow", "disallow"}},
		{"verdicts", "url", []string{"/", "ftp://a.example/private/x", "/", "ftp://a.example/private/x"}},
	} {
		if diff := cmp.Diff(row.want, texts(t, c, row.table, row.column)); diff != "" {
			t.Errorf("%s.%s (-want +got):\n%s", row.table, row.column, diff)
		}
	}
}

type everyone struct{}

func (everyone) CheckPasswd(*server.Context, string, string) (bool, error) { return true, nil }
