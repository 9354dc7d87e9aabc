package publish

import (
	"encoding/json"
	"strings"
	"testing"
)

// No path, password or signature of a setting is published.
func TestSettingsSayNothingOfTheMachine(t *testing.T) {
	settings := map[string]any{
		"hosts": "/home/jane/lists/top.csv", "agents": "", "connect-to": "10.0.0.1:8080", "resolver": "10.0.0.1",
		"user-agent": "census/1 (+https://example.org/)",
		"warc": []any{"https://user:secret@archive.example/crawl/a.warc.gz?X-Signature=secret",
			"s3://secret/crawl/b.warc.gz", "../jane/c.warc"},
	}
	speed := map[string]any{"proxy": "http://jane:secret@10.0.0.1:3128", "state": "/home/jane/state", "memory": "2G",
		"rate": "5", "warc-base": "/home/jane/crawl"}
	text, err := json.Marshal([]any{published(settings, false), published(speed, false)})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"jane", "secret", "10.0.0.1", "2G"} {
		if strings.Contains(string(text), word) {
			t.Errorf("%s names %s", text, word)
		}
	}
	for _, word := range []string{`"top.csv"`, `"a.warc.gz"`, `"b.warc.gz"`, `"c.warc"`, `"agents":""`, `"rate":"5"`,
		`"warc-base":"crawl"`, `"proxy":true`, `"connect-to":true`, `"resolver":true`, "census/1"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("%s lacks %s", text, word)
		}
	}
	if once := published(map[string]any{"proxy": ""}, false); once["proxy"] != false ||
		published(once, false)["proxy"] != false {
		t.Errorf("no proxy, published again, is %v", published(once, false))
	}
	// So is a setting that this version does not know.
	if got := published(map[string]any{"key-file": "/home/jane/key"}, false)["key-file"]; got != true {
		t.Errorf("an unknown setting is published as %v", got)
	}
	if got := published(map[string]any{"hosts": "news.example.txt"}, true)["hosts"]; got != "hosts" {
		t.Errorf("with hashes for hosts the list is named %q", got)
	}
}

// Archives are named as published lists name them, without folders and secrets.
func TestNamesOfArchives(t *testing.T) {
	for name, want := range map[string]string{
		"crawl-data/CC-MAIN-2024-10/robotstxt/a.warc.gz": "crawl-data/CC-MAIN-2024-10/robotstxt/a.warc.gz",
		"/home/jane/crawl/a.warc.gz":                     "a.warc.gz",
		"../jane/a.warc.gz":                              "a.warc.gz",
		"-":                                              "-",
		"s3://bucket/crawl/a.warc.gz":                    "s3://bucket/crawl/a.warc.gz",
		"s3://bucket/100%/a b.warc.gz":                   "s3://bucket/100%/a b.warc.gz",
		"https://data.example/a.warc.gz?X-Amz-Signature=secret":     "https://data.example/a.warc.gz",
		"https://jane:secret@data.example/a.warc.gz#b":              "https://data.example/a.warc.gz",
		"https://data.example/%zz/a.warc.gz?X-Amz-Signature=secret": "https://data.example/%zz/a.warc.gz",
	} {
		if got := archiveName(name); got != want {
			t.Errorf("%s is named %s, want %s", name, got, want)
		}
	}
}

// A data set names a file by its last element, and hides a name that may be a host's.
func TestNamesOfFiles(t *testing.T) {
	for name, want := range map[string]string{
		"../jane/hosts.txt": "hosts.txt",
		"https://user:secret@archive.example/lists/a%20b.txt?X-Signature=secret": "a b.txt",
		"s3://secret/lists/a%20b.txt":                                            "a%20b.txt",
		"https://archive.example/%zz/b.txt?X-Signature=secret":                   "b.txt",
		"s3://secret": "hosts",
		"/":           "hosts",
		"":            "hosts",
	} {
		if got := fileName(name, "hosts", false); got != want {
			t.Errorf("%q is named %q, want %q", name, got, want)
		}
		if got := fileName(name, "hosts", true); got != "hosts" {
			t.Errorf("%q is named %q, though it is hidden", name, got)
		}
	}
}
