package visible

import (
	"encoding/json"
	"testing"
)

func TestTextShowsNothingThatActs(t *testing.T) {
	for in, want := range map[string]string{
		"exa\x1b[31mmple": `exa\u001b[31mmple`, "a\r\nb": `a\u000d\u000ab`, "a\u202eb": `a\u202eb`, "\u009b1m": `\u009b1m`,
		"müller.eu…": "müller.eu…", "a\u061cb\u00adc\U000e0041": `a\u061cb\u00adc\ue0041`, "\xff": `\xff`,
		"a\xe9b\xc3": `a\xe9b\xc3`, "\ufffd": `\ufffd`,
		"a\u200b\u2060\ufeffb": `a\u200b\u2060\ufeffb`, "a\u3164b\u034f": `a\u3164b\u034f`, "<b>": "<b>", "שלום": "שלום",
	} {
		if got := Text(in); got != want {
			t.Errorf("%q is shown as %q, want %q", in, got, want)
		}
	}
}

func TestLinesStay(t *testing.T) {
	if got, want := string(Lines([]byte("a\r\n\x1b[1m\n\nb\xff"))), "a\\u000d\n\\u001b[1m\n\nb\\xff"; got != want {
		t.Errorf("shown as %q, want %q", got, want)
	}
}

// Spreadsheets take a cell that begins like this for a formula.
func TestCellIsNoFormula(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "12": "12", "GPTBot": "GPTBot", "=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@x": "'@x", "\t=1": `\u0009=1`,
		"\r=1": `\u000d=1`, "a=b": "a=b", `"x",y`: `"x",y`,
		"＝1": "'＝1", "＋1": "'＋1", "－1": "'－1", "＠x": "'＠x", "é": "é", "\x1b]0;x\a": `\u001b]0;x\u0007`,
	} {
		if got := Cell(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// JSON means the same with its escapes, and has no character that a terminal obeys.
func TestJSONIsEscaped(t *testing.T) {
	for _, text := range []string{"plain", "é ü 日本", "\u009b2J", "\u202egnp", "a\u2028b", "\U000e0041", "\ufffd",
		"\u200b"} {
		plain, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		escaped := JSON(plain)
		var back map[string]string
		if err := json.Unmarshal(escaped, &back); err != nil || back[text] != text {
			t.Errorf("%q becomes %s: %v", text, escaped, err)
		}
		if Text(string(escaped)) != string(escaped) {
			t.Errorf("%q becomes %q", text, escaped)
		}
	}
}

func TestCountAgrees(t *testing.T) {
	for n, want := range map[int64]string{0: "0 hosts", 1: "1 host", 2: "2 hosts", 21: "21 hosts"} {
		if got := Count(n, "host", "hosts"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}
