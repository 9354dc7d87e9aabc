package answer

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A Challenge is one mark of a wall: an answer that is not a robots.txt, but a test or a
// refusal by a product that keeps robots out. All that is set must hold.
type Challenge struct {
	Vendor   string   // one of [Vendors]
	Statuses []int    `yaml:"status"` // HTTP statuses of the answer; none for any
	Header   string   // name of a header that the answer has, "" for any answer
	Value    string   // text within that header, in any case; "" for any value
	Body     []string // texts within the beginning of a page of HTML, in any case
	Source   string   // where the mark is documented, or was observed
}

// Vendors are the vendors of walls. Generic is a wall of nobody known.
var Vendors = []string{"cloudflare", "aws-waf", "akamai", "datadome", "imperva", "human", "generic"}

// ChallengeBytes is the beginning of a body that marks are sought in.
const ChallengeBytes = 16 << 10

// Validate returns why the mark is none, nil if it is.
func (c *Challenge) Validate() error {
	switch {
	case !slices.Contains(Vendors, c.Vendor):
		return fmt.Errorf("no vendor %q; use one of %s", c.Vendor, strings.Join(Vendors, ", "))
	case c.Header == "" && len(c.Body) == 0:
		return fmt.Errorf("a mark of %s needs a header or a body", c.Vendor)
	case c.Header == "" && c.Value != "":
		return fmt.Errorf("a mark of %s has a value without a header", c.Vendor)
	case slices.Contains(c.Body, ""):
		return fmt.Errorf("a mark of %s has an empty text of the body", c.Vendor)
	case c.Source == "":
		return fmt.Errorf("a mark of %s names no source", c.Vendor)
	}
	return nil
}

// Challenges are marks of walls. The first that an answer has decides.
type Challenges []Challenge

// WantsBody reports whether the body of an answer can show that it is a wall. header
// returns the values of a header.
func (all Challenges) WantsBody(status int, header func(name string) []string) bool {
	for i := range all {
		if len(all[i].Body) > 0 && all[i].fits(status, header) {
			return true
		}
	}
	return false
}

// Find returns the vendor of the wall that an answer is, "" if no mark shows one. body is
// the beginning of the decoded body, nil if it is not known.
func (all Challenges) Find(status int, header func(name string) []string, body []byte) string {
	var page []byte // in lower case, if it is HTML
	for i := range all {
		c := &all[i]
		if !c.fits(status, header) {
			continue
		}
		if len(c.Body) > 0 && page == nil {
			page = []byte{}
			if beginsHTML(body) {
				page = bytes.ToLower(body[:min(len(body), ChallengeBytes)])
			}
		}
		if !slices.ContainsFunc(c.Body,
			func(text string) bool { return !bytes.Contains(page, []byte(strings.ToLower(text))) }) {
			return c.Vendor
		}
	}
	return ""
}

// fits reports whether status and headers are those of the mark.
func (c *Challenge) fits(status int, header func(name string) []string) bool {
	if len(c.Statuses) > 0 && !slices.Contains(c.Statuses, status) {
		return false
	}
	return c.Header == "" || slices.ContainsFunc(header(c.Header), func(value string) bool {
		return strings.Contains(strings.ToLower(value), strings.ToLower(c.Value))
	})
}

// beginsHTML reports whether the first character of a body opens a tag: no line of a
// robots.txt begins so.
func beginsHTML(body []byte) bool {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	return bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("<"))
}
