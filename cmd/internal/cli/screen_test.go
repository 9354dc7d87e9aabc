package cli

import (
	"os/exec"
	"testing"
)

func TestMarkdownShowsForeignTextAsText(t *testing.T) {
	for in, want := range map[string]string{
		"www.example.com": "`www.example.com`", "": "(empty)", "`": "`\\u0060`",
		"a``](http://x)|<b>\n": "`a\\u0060\\u0060](http://x)\\u007c<b>\\u000a`",
		"\x1b[31m":             "`\\u001b[31m`",
	} {
		if got := (&Markdown{}).Foreign(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"out": "out", "my out": "'my out'", "it's": `'it'\''s'`, "$(x)": "'$(x)'"} {
		if got := ShellWord(in); got != want {
			t.Errorf("%q is quoted as %s, want %s", in, got, want)
		}
		out, err := exec.Command("sh", "-c", "printf %s "+want).Output()
		if err != nil || string(out) != in {
			t.Errorf("the shell reads %s as %q, %v", want, out, err)
		}
	}
}
