package answer

import "testing"

func TestHTML(t *testing.T) {
	for body, want := range map[string][2]bool{
		"<!DOCTYPE html><p>":             {true, false},
		"\xef\xbb\xbf \n<!-- x --><HTML": {true, false},
		"user-agent: *":                  {false, false},
		"":                               {false, false},
		"<foo>":                          {false, false},
		"<?xml version='1.0'?>\n<html>":  {true, false},
		`<html><meta http-equiv="refresh" content="0; url=http://x/">`:                            {true, true},
		`<html><META content='0;URL=/x' HTTP-EQUIV=Refresh>`:                                      {true, true},
		`<html><meta http-equiv="refresh" content="30">`:                                          {true, false},
		`<html><!-- <meta http-equiv="refresh" content="0; url=/"> --><p>`:                        {true, false},
		`<html><frameset><frame src="/x"></frameset>`:                                             {true, true},
		`<html><iframe src="/x"></iframe>`:                                                        {true, false},
		`<html><meta name="description" content="how to refresh a url, http-equiv">`:              {true, false},
		`user-agent: * <meta http-equiv="refresh" content="0; url=/">`:                            {false, false},
		`<script>location = "/x"</script>`:                                                        {true, true},
		`<script>location.href='/x'</script>`:                                                     {true, true},
		`<script>location.replace("/x")</script>`:                                                 {true, true},
		"<html><script type=\"text/javascript\">\n  window . location\n= '/x';</script>":          {true, true},
		`<html><SCRIPT async>if(top!=self){top.location.href = self.location.href}</SCRIPT>`:      {true, true},
		`<html><script type=module>document.location.assign('/x')</script>`:                       {true, true},
		`<html><script>/* it's */ var s = "</p>"; location="/x"</script>`:                         {true, true},
		`<html><script>location.replace("/x")`:                                                    {true, true},
		`<html><script src="a.js"></script><script>location="/x"</script>`:                        {true, true},
		`<html><script>if (location == "/x") {}</script>`:                                         {true, false},
		`<html><script>x = location.href; y = location.pathname</script>`:                         {true, false},
		`<html><script>f(location => 1)</script>`:                                                 {true, false},
		`<html><script>let location = 1</script>`:                                                 {true, false},
		`<html><script>shop.location = 1; f().location = 2; mylocation = 3</script>`:              {true, false},
		`<html><script>// location = "/x"` + "\n/* location = 1 */ s = 'location = 2'</script>":   {true, false},
		`<html><script type="application/ld+json">{location = "/x"}</script>`:                     {true, false},
		`<html><p>location = "/x"`:                                                                {true, false},
		`<html><!-- <script>location = "/x"</script> --><p>`:                                      {true, false},
		`<html><script>document.write('<meta http-equiv="refresh" content="0; url=/">')</script>`: {true, false},
		`location = "/x"`: {false, false},
	} {
		if got := [2]bool{IsHTML([]byte(body)), RedirectsByHTML([]byte(body))}; got != want {
			t.Errorf("%s: got %v, want %v", body, got, want)
		}
	}
}
