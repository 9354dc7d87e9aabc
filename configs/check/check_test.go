// Package check tests the Kubernetes manifests against the types of the API and, with
// -binaries, under a real control plane. It is a separate module, so that the command
// does not depend on them.
package check

import (
	"bytes"
	"os"
	"testing"

	"sigs.k8s.io/yaml"
)

// documents returns the documents of a manifest.
func documents(t *testing.T, path string) [][]byte {
	t.Helper()
	content, err := os.ReadFile(path)
	must(t, err)
	return bytes.Split(content, []byte("\n---\n"))
}

// decode decodes the documents of a manifest, in order. A field that is unknown,
// duplicate or of the wrong type fails the test.
func decode(t *testing.T, path string, into ...any) {
	t.Helper()
	all := documents(t, path)
	if len(all) != len(into) {
		t.Fatalf("%s: %d documents, want %d", path, len(all), len(into))
	}
	for i, document := range all {
		must(t, yaml.UnmarshalStrict(document, into[i]))
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
