package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/robocensus/robocensus/cmd/internal/words"
)

// Every reason belongs to exactly one group of answers: otherwise the summary would
// omit it or count it twice.
func TestEveryReasonIsOneAnswer(t *testing.T) {
	var got []string
	for _, a := range answers {
		got = append(got, a.reasons...)
	}
	slices.Sort(got)
	if want := slices.Sorted(maps.Keys(words.Reason)); !slices.Equal(got, want) {
		t.Errorf("the groups of answers have\n%v, and the reasons are\n%v", got, want)
	}
}

// The scripts of an object store are copied with the tool of its cloud.
func TestAskDuckDB(t *testing.T) {
	for dir, want := range map[string]string{
		"out dir":              "cd 'out dir' && duckdb ",
		"s3://b/f":             "aws s3 cp s3://b/f/views.sql . && duckdb ",
		"gs://b":               "gcloud storage cp gs://b/views.sql . && duckdb ",
		"azblob://c/of a/runs": "az storage blob download --file views.sql --container-name c --name 'of a/runs/views.sql' && duckdb ",
		"azblob://c":           "az storage blob download --file views.sql --container-name c --name views.sql && duckdb ",
	} {
		if got := askDuckDB(dir); !strings.HasPrefix(got, want) {
			t.Errorf("%s:\n%s, want\n%s", dir, got, want)
		}
	}
}
