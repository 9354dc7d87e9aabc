package userfile

import "testing"

func TestHostName(t *testing.T) {
	for file, want := range map[string]string{
		"example.com":                  "example.com",
		"a/example.com_8443":           "example.com_8443",
		"example.com/robots.txt":       "example.com",
		"./a/example.com/robots.txt":   "example.com",
		"example.com/a/robots.txt.old": "robots.txt.old",
		"robots.txt":                   "robots.txt", // its host is not told
		"./robots.txt":                 "robots.txt",
		"/robots.txt":                  "robots.txt",
		"":                             "",
	} {
		if got := HostName(file); got != want {
			t.Errorf("HostName(%q) = %q, want %q", file, got, want)
		}
	}
}
