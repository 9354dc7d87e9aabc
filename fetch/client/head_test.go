package client

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// Tests of clients and of archives ask how whole answers are read.

func parsed(text string) *Head {
	h := new(Head)
	h.Parse([]byte(text))
	return h
}

func TestStatusLines(t *testing.T) {
	for line, want := range map[string]string{
		"HTTP/1.1 200 OK":           "1.1 200",
		"HTTP/1.0 404":              "1.0 404",
		"HTTP/1.1   200 OK":         "1.1 200",
		"http/1.1 200 OK":           "1.1 200",
		"HTTP/1.1 200OK":            "1.1 200",
		"HTTP/1.3 999 X":            "1.3 999",
		"HTTP/2 200":                "2 200",
		"HTTP/2.0 200 ":             "2 200",
		"HTTP/3.0 103":              "3 103",
		"HTTP 200 Document follows": " 200",
		"HTTP/1.1":                  " 0",
		"HTTP/1.1 20 OK":            " 0",
		"HTTP/1.1 2000 OK":          " 0",
		"HTTP/1.1 099 OK":           " 0",
		"HTTP/1.1 OK":               " 0",
		"HTTP/0.9 200 OK":           " 0",
		"HTTP/1.10 200 OK":          " 0",
		"HTTP/1 200 OK":             " 0",
		"HTTP/4.0 200 OK":           " 0",
		"HTTP/x.y 200 OK":           " 0",
		"HTTP/ 200 OK":              " 0",
		"HTTPS 200 OK":              " 0",
		"ICY 200 OK":                " 0",
		"":                          " 0",
	} {
		for _, end := range []string{"", "\n", "\r\n", "\r\n\r\n"} {
			h := parsed(line + end)
			if got := fmt.Sprint(h.Version, " ", h.Status); got != want || h.Remark() != nil {
				t.Errorf("%q: %q, %v; want %q", line+end, got, h.Remark(), want)
			}
		}
	}
}

func TestFields(t *testing.T) {
	h := parsed("HTTP/1.1 200 OK\r\n no line before\r\nX-One : a\tb \r\nx-ONE:\r\n  c\r\n\td\r\n" +
		"Empty:\r\n\x7f: x\r\nSet-Cookie: secret\x00\r\nLocation: /\x7f\r\nno colon\nLast: é\xff")
	var got []string
	for _, f := range h.Fields {
		got = append(got, fmt.Sprintf("%s=%q", f.Name, f.Value))
	}
	want := `x-one="a\tb" x-one="c  \td" empty="" location="/\x7f" last="é\xff"`
	if text := strings.Join(got, " "); text != want {
		t.Errorf("fields %s, want %s", text, want)
	}
	if text := fmt.Sprint(h.Remark()); text != "header: 4 lines are dropped: the first has no colon" {
		t.Error(text)
	}
	if values := h.Values("X-One"); len(values) != 2 || values[0] != "a\tb" || h.Values("set-cookie") != nil {
		t.Errorf("values %q", values)
	}
	text := fmt.Sprint(parsed("HTTP/1.1 200 OK\r\nSet-Cookie: secret\x7f\r\n\r\n").Remark())
	if strings.Contains(text, "secret") || !strings.Contains(text, `"set-cookie"`) {
		t.Error(text)
	}
}

func TestFraming(t *testing.T) {
	for fields, want := range map[string]string{
		"":                                      "false -1",
		"Content-Length: 5":                     "false 5",
		"Content-Length: 5, 5,":                 "false 5",
		"Content-Length: +5\nContent-Length: 5": "false 5",
		"Transfer-Encoding: identity\nContent-Length: 5":         "false 5",
		"Transfer-Encoding: none":                                "false -1",
		"Transfer-Encoding:":                                     "false -1",
		"Transfer-Encoding: chunked\nContent-Length: 5":          "true -1",
		"Content-Length: x\nTransfer-Encoding: CHUNKED, chunked": "true -1",
		"Content-Length: 5, 6":                                   "error",
		"Content-Length: 5\nContent-Length: 6":                   "error",
		"Content-Length: -5":                                     "error",
		"Content-Length: 0x5":                                    "error",
		"Content-Length:":                                        "error",
		"Content-Length: ,":                                      "error",
		"Content-Length: 99999999999999999999":                   "error",
		"Transfer-Encoding: gzip":                                "error",
		"Transfer-Encoding: gzip, chunked":                       "error",
		"Transfer-Encoding: chunked\x01":                         "error",
	} {
		f, err := parsed("HTTP/1.1 200 OK\n" + fields + "\n\n").Framing()
		got := fmt.Sprint(f.Chunked, " ", f.Length)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: %s (%v), want %s", fields, got, err, want)
		}
	}
}

func TestEndAndChunks(t *testing.T) {
	for text, want := range map[string]int{"": -1, "a\n": -1, "a\n\nb": 3, "a\r\n\r\nb": 5, "a\n\r\nb": 4, "a\r\r\n": -1} {
		for from := 0; from < min(2, len(text)); from++ {
			if got := HeadEnd([]byte(text), from); got != want {
				t.Errorf("%q from %d: %d, want %d", text, from, got, want)
			}
		}
	}
	for text, want := range map[string]bool{
		"22\r\n": true, "aF;x=y\n": true, "5 \r\n": true,
		"": false, "22": false, "User-agent: *\n": false, "\r\n": false, "123456789\n": false, "0x5\n": false,
	} {
		if IsChunk([]byte(text)) != want {
			t.Errorf("%q begins a chunk: %v", text, !want)
		}
	}
}

// FuzzParse checks that every line is a field, a part of one, or dropped, and that what is
// kept is what a client may rely on.
func FuzzParse(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n: x\r\n\r\n"))
	f.Add([]byte("HTTP 200\n x\nLocation: \x7f\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := parsed(string(text))
		if len(h.Fields)+h.dropped > bytes.Count(text, []byte("\n")) {
			t.Fatalf("%d fields and %d lines dropped, of %q", len(h.Fields), h.dropped, text)
		}
		if h.Status != 0 && (h.Status < 100 || h.Status > 999 || h.Version != "" && !IsVersion(h.Version)) {
			t.Fatalf("HTTP %q, status %d", h.Version, h.Status)
		}
		for _, field := range h.Fields {
			if !isToken(field.Name) || field.Value == nil || hasControl(field.Value) && !isJudged(field.Name) ||
				!bytes.Equal(field.Name, bytes.ToLower(field.Name)) {
				t.Fatalf("field %q: %q", field.Name, field.Value)
			}
		}
	})
}
