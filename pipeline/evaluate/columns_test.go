package evaluate

import (
	"slices"
	"testing"

	"github.com/robocensus/robocensus/robots"
	"github.com/robocensus/robocensus/sink/schema"
)

// A further profile shares a reading of the first one that judges its agents there too. One
// that judges an agent whom another judges there is compared, and needs a reading of its own.
func TestColumnsShareReadings(t *testing.T) {
	named := func(name string) *robots.Profile {
		p, ok := robots.ProfileNamed(name)
		if !ok {
			t.Fatalf("no profile %s", name)
		}
		return p
	}
	c := Config{Agents: []schema.Agent{{Name: "A"}, {Name: "B", ReadsAs: new("scrapy")}},
		Readers: map[string]*robots.Profile{"google": named("google"), "scrapy": named("scrapy")}}
	for _, x := range []struct {
		profiles []string
		of       [][]int
	}{
		{[]string{"google", "own"}, [][]int{{0, 0}, {0, 1}}},
		{[]string{"own", "google"}, [][]int{{0, 1}, {2, 2}}},
		{[]string{"google", "own", "scrapy"}, [][]int{{0, 0}, {0, 1}, {1, 1}}},
	} {
		c.Profiles = nil
		for _, name := range x.profiles {
			c.Profiles = append(c.Profiles, named(name))
		}
		columns, _ := c.columnsOf()
		for k, col := range columns {
			if !slices.Equal(col.of, x.of[k]) {
				t.Errorf("%v: agents of column %d have the readings %v, want %v", x.profiles, k, col.of, x.of[k])
			}
		}
	}
}
