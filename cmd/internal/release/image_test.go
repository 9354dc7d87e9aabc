package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// unpacked returns the files of a tar, with a mark for their type, and their order.
func unpacked(t *testing.T, in io.Reader) (files map[string][]byte, headers map[string]*tar.Header) {
	t.Helper()
	files, headers = make(map[string][]byte), make(map[string]*tar.Header)
	r := tar.NewReader(in)
	for {
		h, err := r.Next()
		if err == io.EOF {
			return files, headers
		}
		must(t, err)
		if headers[h.Name] != nil {
			t.Errorf("%s is there twice", h.Name)
		}
		headers[h.Name] = h
		files[h.Name], err = io.ReadAll(r)
		must(t, err)
	}
}

// The image follows the OCI image layout: every descriptor has the digest and the size of a
// blob, no blob is left over, the digests of layers are those of their contents, and what is in
// a layer is what a container needs.
func TestImage(t *testing.T) {
	made := func() ([]byte, map[string][]byte) {
		binaries := make(map[string][]byte)
		r := release{version: "1.2.3", out: t.TempDir(), commands: []string{"./cmd/robocensus"},
			time: time.Unix(1_800_000_000, 0).UTC(), work: t.TempDir()}
		for _, platform := range []string{"linux/amd64", "linux/arm64"} {
			name := r.binary(platform, r.commands[0])
			must(t, os.MkdirAll(filepath.Dir(name), 0o777))
			binaries[platform] = []byte("binary of " + platform)
			must(t, os.WriteFile(name, binaries[platform], 0o666))
		}
		must(t, r.image())
		content, err := os.ReadFile(filepath.Join(r.out, "robocensus_1.2.3_image.tar"))
		must(t, err)
		return content, binaries
	}
	content, binaries := made()
	if again, _ := made(); !bytes.Equal(content, again) {
		t.Error("the image made again has other bytes")
	}
	files, _ := unpacked(t, bytes.NewReader(content))
	blobs := make(map[string]bool)
	blob := func(d descriptor, mediaType string, into any) []byte {
		t.Helper()
		name := "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:")
		b, ok := files[name]
		if !ok || d.Size != len(b) || d.Digest != fmt.Sprintf("sha256:%x", sha256.Sum256(b)) || d.MediaType != mediaType {
			t.Fatalf("%+v: there are %d bytes (%v)", d, len(b), ok)
		}
		blobs[name] = true
		if into != nil {
			decoder := json.NewDecoder(bytes.NewReader(b))
			decoder.DisallowUnknownFields()
			must(t, decoder.Decode(into))
		}
		return b
	}
	if got := string(files["oci-layout"]); got != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout: %s", got)
	}
	var top, all index
	must(t, json.Unmarshal(files["index.json"], &top))
	if top.SchemaVersion != 2 || len(top.Manifests) != 1 ||
		top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3" {
		t.Fatalf("index.json: %s", files["index.json"])
	}
	blob(top.Manifests[0], "application/vnd.oci.image.index.v1+json", &all)
	var platforms []string
	for _, d := range all.Manifests {
		var m manifest
		var c image
		blob(d, "application/vnd.oci.image.manifest.v1+json", &m)
		blob(m.Config, "application/vnd.oci.image.config.v1+json", &c)
		if len(m.Layers) != 1 || c.platform != *d.Platform || c.RootFS.Type != "layers" || len(c.RootFS.DiffIDs) != 1 ||
			c.Config.User != "65532:65532" ||
			!c.Created.Equal(time.Unix(1_800_000_000, 0)) || cmp.Diff(c.Config.Entrypoint, []string{"/robocensus"}) != "" ||
			cmp.Diff(c.Config.Env, []string{"XDG_CACHE_HOME=/tmp"}) != "" {
			t.Errorf("manifest %+v, configuration %+v", m, c)
		}
		z, err := gzip.NewReader(bytes.NewReader(blob(m.Layers[0], "application/vnd.oci.image.layer.v1.tar+gzip", nil)))
		must(t, err)
		plain, err := io.ReadAll(z)
		must(t, err)
		if got := fmt.Sprintf("sha256:%x", sha256.Sum256(plain)); got != c.RootFS.DiffIDs[0] {
			t.Errorf("the layer has the digest %s, and the configuration says %s", got, c.RootFS.DiffIDs[0])
		}
		platform := c.OS + "/" + c.Architecture
		platforms = append(platforms, platform)
		in, headers := unpacked(t, bytes.NewReader(plain))
		if !bytes.Equal(in["robocensus"], binaries[platform]) || headers["robocensus"].Mode != 0o755 ||
			headers["tmp/"].Typeflag != tar.TypeDir || headers["tmp/"].Mode != 0o1777 {
			t.Errorf("%s has the binary %q, and /tmp %+v", platform, in["robocensus"], headers["tmp/"])
		}
		if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(in["etc/ssl/certs/ca-certificates.crt"]) ||
			bytes.Count(in["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")) < 100 {
			t.Error("the image has no certificates")
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Error(diff)
	}
	for name := range files {
		if strings.HasPrefix(name, "blobs/") && !blobs[name] {
			t.Errorf("nothing refers to %s", name)
		}
	}
}
