package flags

import "testing"

func TestNearest(t *testing.T) {
	names := []string{"GPTBot", "google", "google-2019", "verdicts", "out", "r"}
	for name, want := range map[string]string{
		"GTPBot": "GPTBot", "gptbot": "GPTBot", "googel": "google", "google-2018": "google-2019", "verdict": "verdicts",
		"verdcits": "verdicts",
		"ot":       "", "s": "", "": "", "foo": "", "rulse": "", "policies": "",
	} {
		if got := nearest(name, names); got != want {
			t.Errorf("nearest to %q is %q, want %q", name, got, want)
		}
	}
	if got := Suggest("GTPBot", names); got != " (did you mean GPTBot?)" {
		t.Errorf("remark %q", got)
	}
	if got := Suggest("x", names); got != "" {
		t.Errorf("remark %q", got)
	}
}
