package consent

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/robocensus/robocensus/robots/usage"
)

// readLLMs reads an llms.txt: its first block is a heading of the first level.
func readLLMs(d *Document, body []byte, _ *Served) {
	if !utf8.Valid(cutRune(body)) {
		d.Invalid = "not_text"
		return
	}
	title := ""
	for line := range lines(body) {
		text := strings.TrimRight(line.text, " \t")
		indent := len(text) - len(strings.TrimLeft(text, " "))
		text = strings.TrimLeft(text, " ")
		switch {
		case text == "" && title == "":
			continue
		case title != "" && indent < 4 && strings.Trim(text, "=") == "" && text != "":
			return // underlined
		case title == "" && indent < 4 && (strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "#\t")) &&
			strings.Trim(text[1:], " \t#") != "":
			return
		case title == "" && indent < 4 && !strings.ContainsRune("#-*+>|`~<", rune(text[0])):
			title = text
			continue
		}
		break
	}
	d.Invalid = "no_heading"
}

// readSignatures reads a directory of keys for signatures of HTTP messages: an object with
// an array of keys, each with its type.
func readSignatures(d *Document, body []byte, s *Served) {
	var in struct{ Keys []map[string]any }
	if !json.Valid(body) {
		d.Invalid = "not_json"
		return
	}
	if err := json.Unmarshal(body, &in); err != nil {
		d.Invalid = "no_object"
		return
	}
	if len(in.Keys) == 0 {
		d.Invalid = "no_key"
		return
	}
	live := false
	for _, key := range in.Keys {
		if kind, _ := key["kty"].(string); kind == "" {
			d.Invalid = "no_key_type"
			return
		}
		if id, ok := key["kid"].(string); ok && id != thumbprint(key) {
			d.remark("kid")
		}
		until, ok := key["exp"].(float64)
		live = live || !ok || s.Time.IsZero() || float64(s.Time.Unix()) < until
	}
	if !live {
		d.remark(remarkExpired)
	}
}

// thumbprint returns the thumbprint of a key (RFC 7638) in base64url, "" for a type of key
// that has none here.
func thumbprint(key map[string]any) string {
	var members []string
	switch key["kty"] {
	case "OKP":
		members = []string{"crv", "kty", "x"}
	case "EC":
		members = []string{"crv", "kty", "x", "y"}
	case "RSA":
		members = []string{"e", "kty", "n"}
	default:
		return ""
	}
	var parts []string
	for _, name := range members {
		value, ok := key[name].(string)
		if !ok {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%q:%q", name, value))
	}
	sum := sha256.Sum256([]byte("{" + strings.Join(parts, ",") + "}"))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// readSecurityTxt reads a security.txt (RFC 9116): it names a contact, and when it expires,
// once. It may be signed.
func readSecurityTxt(d *Document, body []byte, s *Served) {
	counts := make(map[string]int)
	var expires string
	isHead := false // of the signed message
	for line := range lines(body) {
		switch text := line.text; {
		case strings.HasPrefix(text, "-----BEGIN PGP SIGNED MESSAGE"):
			isHead = true
			continue
		case strings.HasPrefix(text, "-----BEGIN PGP SIGNATURE"):
			continue
		case isHead:
			isHead = strings.TrimSpace(text) != ""
			continue
		}
		text := strings.TrimPrefix(line.text, "- ")
		name, value, ok := strings.Cut(text, ":")
		if name = strings.ToLower(strings.TrimSpace(name)); !ok || strings.HasPrefix(name, "#") ||
			strings.TrimSpace(value) == "" {
			continue
		}
		if counts[name]++; name == "expires" {
			expires = strings.TrimSpace(value)
		}
	}
	at, err := time.Parse(time.RFC3339, strings.ToUpper(expires))
	switch {
	case counts["contact"] == 0:
		d.Invalid = "no_contact"
	case counts["expires"] == 0:
		d.Invalid = "no_expires"
	case counts["expires"] > 1, counts["preferred-languages"] > 1:
		d.Invalid = "repeated_field"
	case err != nil:
		d.Invalid = "expires"
	case !s.Time.IsZero() && !s.Time.Before(at):
		d.remark(remarkExpired)
	}
}

// adsVariables are the variables of an ads.txt.
var adsVariables = []string{"contact", "subdomain", "ownerdomain", "managerdomain", "inventorypartnerdomain"}

// readAdsTxt reads an ads.txt: it has a record of a seller, or a variable. One with nothing
// in it says that nobody sells, and so does a placeholder.
func readAdsTxt(d *Document, body []byte, _ *Served) {
	records, placeholders, others := 0, 0, 0
	for line := range lines(body) {
		text, _, _ := strings.Cut(line.text, "#")
		text, _, _ = strings.Cut(text, ";")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		fields := strings.Split(text, ",")
		name, _, isVariable := strings.Cut(text, "=")
		switch {
		case isVariable && slices.Contains(adsVariables, strings.ToLower(strings.TrimSpace(name))):
			records++
		case (len(fields) == 3 || len(fields) == 4) && isRelation(fields[2]) && strings.TrimSpace(fields[0]) != "" &&
			strings.TrimSpace(fields[1]) != "":
			if records++; strings.HasPrefix(strings.ToLower(strings.TrimSpace(fields[0])), "placeholder.") {
				placeholders++
			}
		default:
			others++
		}
	}
	switch {
	case records == 0 && others == 0:
		d.remark(remarkEmpty)
	case records == 0:
		d.Invalid = "no_record"
	case records == placeholders:
		d.remark("placeholder")
	}
}

func isRelation(field string) bool {
	field = strings.ToUpper(strings.TrimSpace(field))
	return field == "DIRECT" || field == "RESELLER"
}

// trustNames are the names of a trust.txt.
var trustNames = []string{"member", "belongto", "control", "controlledby", "social", "vendor", "customer",
	"disclosure", "contact", trustTraining}

const trustTraining = "datatrainingallowed"

// trust is the meaning of a trust.txt: what it says of training, for the whole site.
type trust struct {
	says usage.Preference
	raw  string
}

// readTrustTxt reads a trust.txt: it has a line with a name that is one of its own.
func readTrustTxt(d *Document, body []byte, _ *Served) any {
	m := &trust{}
	known := 0
	for line := range lines(body) {
		name, value, ok := strings.Cut(line.text, "=")
		name, value = strings.ToLower(strings.TrimSpace(name)), strings.TrimSpace(value)
		if !ok || !slices.Contains(trustNames, name) {
			continue
		}
		if known++; name != trustTraining {
			continue
		}
		s := Statement{Mechanism: usage.TrustTxt, Line: line.number,
			Statement: usage.Statement{Label: name, Use: usage.AITrain, Value: short(value)}}
		switch strings.ToLower(value) {
		case "yes":
			s.Preference = usage.Allows
		case "no":
			s.Preference = usage.Refuses
		default:
			s.Remark = remarkValue
			d.remark(remarkValue)
		}
		if said := m.says; said != usage.Unknown && s.Preference != usage.Unknown && said != s.Preference {
			d.remark(remarkConflict)
			s.Remark = remarkConflict
		}
		if rank(s.Preference) > rank(m.says) {
			m.says, m.raw = s.Preference, value
		}
		d.state(s)
	}
	if known == 0 {
		d.Invalid = "no_name"
		return nil
	}
	return m
}
