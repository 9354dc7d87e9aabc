package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// The image of a release is an archive of the OCI image layout 1.1, which podman load and
// docker load take, and skopeo copies into a registry: an index with an image for each Linux.
// An image holds what configs/deploy/Containerfile would put there: the binary, certificates
// and a folder for temporary files. The certificates are those of Mozilla, of the module that
// go.mod names, so that the bytes do not depend on the machine.

const (
	typeIndex    = "application/vnd.oci.image.index.v1+json"
	typeManifest = "application/vnd.oci.image.manifest.v1+json"
	typeConfig   = "application/vnd.oci.image.config.v1+json"
	typeLayer    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

// descriptor refers to a blob.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *platform         `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type platform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type index struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Manifests     []descriptor `json:"manifests"`
}

type manifest struct {
	SchemaVersion int          `json:"schemaVersion"`
	MediaType     string       `json:"mediaType"`
	Config        descriptor   `json:"config"`
	Layers        []descriptor `json:"layers"`
}

// image is the configuration of an image.
type image struct {
	Created time.Time `json:"created"`
	platform
	Config struct {
		User       string
		Env        []string
		Entrypoint []string
		Labels     map[string]string
	} `json:"config"`
	RootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	} `json:"rootfs"`
	History []history `json:"history"`
}

type history struct {
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"created_by"`
}

// layout collects the blobs of an image layout.
type layout struct {
	entries []entry
	seen    map[string]bool
}

func digestOf(content []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(content)) }

// add adds a blob.
func (l *layout) add(mediaType string, content []byte) descriptor {
	d := descriptor{MediaType: mediaType, Digest: digestOf(content), Size: len(content)}
	if !l.seen[d.Digest] {
		l.seen[d.Digest] = true
		l.entries = append(l.entries, entry{name: "blobs/sha256/" + strings.TrimPrefix(d.Digest, "sha256:"),
			content: content})
	}
	return d
}

func (l *layout) addJSON(mediaType string, value any) (descriptor, error) {
	content, err := json.Marshal(value)
	return l.add(mediaType, content), err
}

// image writes the image of the binaries for Linux that were built.
func (r *release) image() error {
	l := &layout{seen: make(map[string]bool)}
	all := index{SchemaVersion: 2, MediaType: typeIndex}
	for _, name := range platforms {
		system, architecture, _ := strings.Cut(name, "/")
		if system != "linux" {
			continue
		}
		binary, err := os.ReadFile(r.binary(name, r.commands[0]))
		if err != nil {
			return err
		}
		d, err := r.imageFor(l, platform{architecture, system}, binary)
		if err != nil {
			return err
		}
		all.Manifests = append(all.Manifests, d)
	}
	whole, err := l.addJSON(typeIndex, all)
	if err != nil {
		return err
	}
	whole.Annotations = map[string]string{"org.opencontainers.image.ref.name": r.version}
	top, err := json.Marshal(index{2, typeIndex, []descriptor{whole}})
	if err != nil {
		return err
	}
	entries := append([]entry{{name: "oci-layout", content: []byte(`{"imageLayoutVersion":"1.0.0"}`)},
		{name: "index.json", content: top}}, l.entries...)
	return write(filepath.Join(r.out, fmt.Sprintf("robocensus_%s_image.tar", r.version)), func(out io.Writer) error {
		return packTar(out, entries, r.time)
	})
}

// imageFor adds the image of a platform.
func (r *release) imageFor(l *layout, p platform, binary []byte) (descriptor, error) {
	var files bytes.Buffer
	if err := packTar(&files, []entry{
		{name: "etc/", executable: true}, {name: "etc/ssl/", executable: true}, {name: "etc/ssl/certs/", executable: true},
		{name: "etc/ssl/certs/ca-certificates.crt", content: certificates()},
		{name: "robocensus", content: binary, executable: true}, {name: "tmp/", shared: true},
	}, r.time); err != nil {
		return descriptor{}, err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return descriptor{}, err
	}
	_, err = w.Write(files.Bytes())
	if err = errors.Join(err, w.Close()); err != nil {
		return descriptor{}, err
	}
	c := image{Created: r.time, platform: p}
	c.Config.User, c.Config.Env, c.Config.Entrypoint = "65532:65532", []string{"XDG_CACHE_HOME=/tmp"},
		[]string{"/robocensus"}
	c.Config.Labels = map[string]string{"org.opencontainers.image.title": "robocensus",
		"org.opencontainers.image.version": r.version}
	c.RootFS.Type, c.RootFS.DiffIDs = "layers", []string{digestOf(files.Bytes())}
	c.History = []history{{r.time, "make release"}}
	config, err := l.addJSON(typeConfig, c)
	if err != nil {
		return descriptor{}, err
	}
	m := manifest{2, typeManifest, config, []descriptor{l.add(typeLayer, packed.Bytes())}}
	d, err := l.addJSON(typeManifest, m)
	d.Platform = &p
	return d, err
}

// certificates returns the roots that a client without certificates of its system trusts.
func certificates() []byte {
	var out bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // PEM has no place for one
			pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return out.Bytes()
}
