package robots

// Allowed reports whether a robots.txt lets a crawler fetch a URL, as Google's parser of
// today reads it. Agent is the crawler's product token, such as GPTBot; a text that no
// user-agent line can name is an error. The URL may be a path. Those who ask much of one
// file, for several crawlers or under another [Profile], use a [Judge].
func Allowed(body []byte, agent, url string) (bool, error) {
	a := Agent{Name: agent, Tokens: []string{agent}}
	if err := a.Validate(); err != nil {
		return false, err
	}
	p, _ := ProfileNamed("google")
	var f File
	f.Parse(body[:min(len(body), p.SizeLimit)], p)
	j := NewJudge(p, []Agent{a})
	j.Load(&f)
	t := p.Target(url)
	return j.Policy(0).Judge(&t).Value == Permitted, nil // google leaves nothing undefined
}
