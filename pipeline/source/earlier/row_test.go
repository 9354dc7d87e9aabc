package earlier

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/robots/answer"
	"github.com/robocensus/robocensus/robots/usage"
	"github.com/robocensus/robocensus/sink/schema"
)

// What came of a front page comes back from its columns as it was.
func TestFrontPageOfARow(t *testing.T) {
	value := "noai"
	row := &schema.Fetch{
		Scheme: "https", Host: "a.example", Port: 443, FrontPage: new("failed"), FrontErrorClass: new("reset"),
		FrontHops:    []schema.Hop{{URL: "https://a.example/", Status: new(int32(301))}, {URL: "https://a.example/en"}},
		FrontHeaders: []schema.HeaderLine{{Name: "x-robots-tag", Value: &value}, {Name: "tdm-policy"}},
	}
	want := &fetch.Front{
		Outcome: usage.PageFailed, Error: answer.ErrorReset, Hops: []answer.Hop{{URL: "https://a.example/", Status: 301},
			{URL: "https://a.example/en"}},
		Header: []usage.HeaderField{{Name: "x-robots-tag", Value: &value}, {Name: "tdm-policy"}},
	}
	if diff := cmp.Diff(want, targetOf(row, nil, limits{}).Capture.Front); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := targetOf(&schema.Fetch{Scheme: "https", Host: "a.example", Port: 443}, nil,
		limits{}).Capture.Front; got != nil {
		t.Errorf("nobody looked, and yet %+v", got)
	}
}
