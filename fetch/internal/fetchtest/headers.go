package fetchtest

import (
	"reflect"
	"regexp"
	"strings"

	"github.com/robocensus/robocensus/fetch"
)

// EachHeader sets every header to what value returns for its name, such as Retry-After.
func EachHeader(h *fetch.Headers, value func(name string) *string) {
	fields := reflect.ValueOf(h).Elem()
	for i := range fields.NumField() {
		name := wordEnd.ReplaceAllString(fields.Type().Field(i).Name, "$1-$2")
		fields.Field(i).Set(reflect.ValueOf(value(name)))
	}
}

var wordEnd = regexp.MustCompile("([a-z])([A-Z])")

// AllHeaders returns every header, and the lines of an answer that has them.
func AllHeaders() (h fetch.Headers, lines string) {
	EachHeader(&h, func(name string) *string {
		value := strings.ToLower(name)
		lines += name + ": " + value + "\r\n"
		return &value
	})
	return h, lines
}
