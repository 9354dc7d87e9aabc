package show

import (
	"reflect"
	"strings"
	"testing"
)

// The help names every key of the object that --json prints.
func TestHelpNamesKeys(t *testing.T) {
	_, help, _ := strings.Cut(hostHelp, "\n    {")
	help, _, _ = strings.Cut(help, "}")
	view := reflect.TypeFor[hostView]()
	keys := 0
	for i := range view.NumField() {
		key := view.Field(i).Tag.Get("json")
		if key == "" || key == "-" {
			continue
		}
		if keys++; !strings.Contains(help, `"`+key+`"`) {
			t.Errorf("the help does not name %s", key)
		}
	}
	if named := strings.Count(help, `"`) / 2; named != keys {
		t.Errorf("the help names %d keys, and there are %d", named, keys)
	}
}
