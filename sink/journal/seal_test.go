package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
)

func TestSealsFindEveryChange(t *testing.T) {
	content, digest, err := seal(map[string]any{"a": 1, "b": []string{"x", "é"}})
	must(t, err)
	if got, err := unseal(content); err != nil || got != digest {
		t.Fatalf("%v: %s", err, content)
	}
	var object map[string]any
	must(t, json.Unmarshal(content, &object))
	if object["sha256"] != digest || object["a"] != 1.0 {
		t.Errorf("the object is %v", object)
	}
	for i := range content {
		for bit := range 8 {
			other := bytes.Clone(content)
			other[i] ^= 1 << bit
			if _, err := unseal(other); !errors.Is(err, ErrDamaged) {
				t.Fatalf("bit %d of byte %d of\n%s: %v", bit, i, content, err)
			}
		}
	}
	for n := range content {
		if _, err := unseal(content[:n]); !errors.Is(err, ErrDamaged) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
}
