package answer

// For tests that ask every profile.

func (p *Answers) Row(k Kind, maxRedirects int) rowReading { return p.read(k, maxRedirects) }

var Recall = (*Answers).recall
