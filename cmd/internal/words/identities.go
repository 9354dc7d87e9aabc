package words

// Treatment has words for what a further identity met.
var Treatment = Vocabulary{
	"served":       "a file, as we",
	"absent":       "no file, as we",
	"other":        "another answer than ours",
	"challenged":   "a wall",
	"rate_limited": "asked to slow down",
	"payment":      "asked to pay",
	"refused":      "refused",
	"failing":      "an error",
	"unreached":    "no answer",
	"incomparable": "not compared, for we were no better off",
}

// PageTreatment has words for what a further identity met on a page.
var PageTreatment = Vocabulary{
	"served":          "served",
	"served_other":    "served another page",
	"refused":         "refused",
	"challenge":       "a wall",
	"rate_limited":    "asked to slow down",
	"payment":         "asked to pay",
	"redirected_away": "redirected away",
	"server_error":    "a server error",
	"no_answer":       "no answer",
	"not_asked":       "not asked",
}

// TreatmentReason has words for why an identity met what it met on a page.
var TreatmentReason = Vocabulary{
	"disallowed": "robots.txt shuts it out",
	"unread":     "nobody knows what may be fetched",
	"spared":     "the host is busy or wants to be left alone",
	"elsewhere":  "to another site",
	"no_price":   "402 without a price",
	"once":       "and not when asked again",
}

// Paper has words for what a robots.txt says to an agent.
var Paper = Vocabulary{
	"open":     "open",
	"partly":   "open in part",
	"shut_out": "shut out",
	"nothing":  "nothing said",
	"unknown":  "unknown",
}

// PaperSays has words for what a robots.txt says to an agent, before "to" and its name.
var PaperSays = Vocabulary{
	"open":     "is open",
	"partly":   "is open in part",
	"shut_out": "is shut",
	"nothing":  "says nothing",
	"unknown":  "says what is not known",
}

// answered has words for how a host answers an identity, before and after a change.
var answered = Vocabulary{
	"alike":        "as we are answered",
	"stricter":     "a stricter file",
	"looser":       "a looser file",
	"mixed":        "a file stricter and looser",
	"undecided":    "another file, undecided",
	"other":        Treatment["other"],
	"challenged":   Treatment["challenged"],
	"rate_limited": Treatment["rate_limited"],
	"payment":      Treatment["payment"],
	"refused":      Treatment["refused"],
	"failing":      Treatment["failing"],
	"unreached":    Treatment["unreached"],
}

// PageHeader has the names of the headers in which a page says what it may be used for.
var PageHeader = Vocabulary{
	"content-usage":   "Content-Usage",
	"x-robots-tag":    "X-Robots-Tag",
	"tdm-reservation": "TDM-Reservation",
	"tdm-policy":      "TDM-Policy",
	"content-signal":  "Content-Signal",
	"robots-tag":      "Robots-Tag",
	"robots":          "meta robots",
}

// PageOutcome has words for what came of the request for a front page.
var PageOutcome = Vocabulary{
	"read":       "read",
	"status":     "another status than 2xx",
	"challenge":  "a wall answered",
	"elsewhere":  "redirected to another domain, which was not asked",
	"failed":     "no answer",
	"disallowed": "not asked, because robots.txt shuts this census out",
	"unread":     "not asked, because robots.txt does not say whether it may be",
	"spared":     "not asked, because the host is busy or wants to be left alone",
	"uncaptured": "in no archive",
}
