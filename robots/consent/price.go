package consent

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A Price is what an answer asks for, or was paid. It is a fact: neither refusal nor consent.
type Price struct {
	// Header is the name of the header that says so, in lower case; "" if the body does.
	Header string `json:"header"`
	// Text is the price as written; of x402, amount, asset and network, the amount in the
	// smallest unit of the asset. "" if only a licence is named.
	Text string `json:"text,omitempty" raw:""`
	// Amount is that of x402, "" for others.
	Amount string `json:"-"`
}

// PriceBytes is the beginning of a body in which a price is sought.
const PriceBytes = 64 << 10

// PriceHeaders are the headers, in lower case, that bear on a price.
var PriceHeaders = []string{"crawler-price", "crawler-charged", "payment-required", "www-authenticate", "link"}

// schemes of WWW-Authenticate that ask for money or a licence.
var paymentSchemes = []string{"payment", "license", "l402", "lsat"}

// PriceOf returns the price that an answer names, a 402 or another refusal, for who is not known
// may get any. It reports false for one without: a bare 402 is an unpaid hosting account more
// often than not.
func PriceOf(status int, header http.Header, body []byte) (p Price, ok bool) {
	if value := header.Get("crawler-charged"); value != "" {
		return Price{Header: "crawler-charged", Text: short(strings.TrimSpace(value))}, true
	}
	if status < 400 || status > 499 {
		return p, false
	}
	if value := strings.TrimSpace(header.Get("crawler-price")); value != "" {
		return Price{Header: "crawler-price", Text: short(value)}, true
	}
	if value := strings.TrimSpace(header.Get("payment-required")); value != "" && len(value) <= 2*PriceBytes {
		p = Price{Header: "payment-required", Text: short(value)}
		if text, err := base64.StdEncoding.DecodeString(value); err == nil {
			p.read(text)
		} else if text, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "=")); err == nil {
			p.read(text)
		}
		return p, true
	}
	switch {
	case status == http.StatusPaymentRequired && len(body) <= PriceBytes && p.read(body):
		return p, true
	case status != http.StatusPaymentRequired && status != http.StatusUnauthorized:
		return Price{}, false
	}
	for _, value := range header.Values("WWW-Authenticate") {
		scheme, _, _ := strings.Cut(strings.TrimSpace(value), " ")
		for _, known := range paymentSchemes {
			if strings.EqualFold(scheme, known) {
				return Price{Header: "www-authenticate", Text: short(strings.TrimSpace(value))}, true
			}
		}
	}
	if links := LinkedLicenses(header.Values("Link")); len(links) > 0 {
		return Price{Header: "link"}, true
	}
	return Price{}, false
}

// read reads the offers of x402, of which the first counts. It reports false for other
// texts.
func (p *Price) read(text []byte) bool {
	var in struct {
		Version int `json:"x402Version"`
		Accepts []struct {
			Network, Asset, Amount string
			Most                   string `json:"maxAmountRequired"` // of version 1
		}
	}
	if json.Unmarshal(text, &in) != nil || in.Version == 0 || len(in.Accepts) == 0 {
		return false
	}
	first := in.Accepts[0]
	if p.Amount = first.Amount; p.Amount == "" {
		p.Amount = first.Most
	}
	p.Amount = short(p.Amount)
	p.Text = strings.TrimSpace(short(fmt.Sprintf("%s %s %s", p.Amount, first.Asset, first.Network)))
	return p.Amount != ""
}
