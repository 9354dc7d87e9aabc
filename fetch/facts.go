package fetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// stored is a capture as it is stored in JSON: without its bodies, and of Err the text. Names are
// those of the columns of fetches, where there are any.
type stored struct {
	Capture `raw:""`
	Text    *string `json:"error,omitempty" raw:""`
}

func storedOf(c *Capture) stored {
	s := stored{*c, textOf(c.Err)}
	s.Start = c.Start.UTC()
	return s
}

// capture reverses storedOf. The Err of the capture has only the text of the
// original.
func (s *stored) capture(o Origin) *Capture {
	c := s.Capture
	c.Origin, c.Err = o, errorOf(s.Text)
	return &c
}

// textOf returns the text of an error, nil for none.
func textOf(err error) *string {
	if err == nil {
		return nil
	}
	return new(err.Error())
}

// errorOf reverses textOf.
func errorOf(text *string) error {
	if text == nil {
		return nil
	}
	return errors.New(*text)
}

// A field with the tag raw holds a text of any bytes, or values with such fields. In JSON each
// byte of the text is the code point of its value, because a JSON string cannot hold bytes that
// are not UTF-8.

// encode encodes what v points to, and changes it.
func encode(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil || isASCII(text) { // as most are
		return text, err
	}
	err = mapRaw(reflect.ValueOf(v).Elem(), func(s string) (string, error) {
		text := make([]byte, 0, len(s))
		for i := range len(s) {
			text = utf8.AppendRune(text, rune(s[i]))
		}
		return string(text), nil
	})
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// decode reverses encode.
func decode(text []byte, v any) error {
	if err := json.Unmarshal(text, v); err != nil || isASCII(text) {
		return err
	}
	return mapRaw(reflect.ValueOf(v).Elem(), func(s string) (string, error) {
		bytes := make([]byte, 0, len(s))
		for _, r := range s {
			if r > 0xff {
				return "", fmt.Errorf("%q is not a byte", r)
			}
			bytes = append(bytes, byte(r))
		}
		return string(bytes), nil
	})
}

// isASCII reports whether all texts in a JSON text are of ASCII alone. It may miss that one is.
func isASCII(text []byte) bool {
	for i, c := range text {
		if c >= utf8.RuneSelf || c == '\\' && text[i+1] == 'u' && !(text[i+2] == '0' && text[i+3] == '0' && text[i+4] < '8') {
			return false
		}
	}
	return true
}

// mapRaw replaces the texts of a value. What it refers to stays as it is: other values may refer
// to it.
func mapRaw(v reflect.Value, to func(string) (string, error)) (err error) {
	switch v.Kind() {
	case reflect.String:
		text, err := to(v.String())
		v.SetString(text)
		return err
	case reflect.Pointer:
		if !v.IsNil() {
			own := reflect.New(v.Type().Elem())
			own.Elem().Set(v.Elem())
			v.Set(own)
			return mapRaw(own.Elem(), to)
		}
	case reflect.Slice:
		v.Set(reflect.AppendSlice(reflect.Zero(v.Type()), v))
		for i := 0; i < v.Len() && err == nil; i++ {
			err = mapRaw(v.Index(i), to)
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if _, isRaw := field.Tag.Lookup("raw"); isRaw && err == nil {
				err = mapRaw(value, to)
			}
		}
	}
	return err
}
