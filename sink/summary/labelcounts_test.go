package summary

import (
	"strings"
	"testing"

	"github.com/robocensus/robocensus/sink/schema"
)

// What a run cannot count is refused before anyone is asked, and what it can is not.
func TestValuesThatCannotBeCounted(t *testing.T) {
	if err := CheckLabels(16*(MostValues+1), 206, 20); err != nil {
		t.Errorf("16 labels, 206 agents, 20 profiles: %v", err)
	}
	err := CheckLabels(16*(MostValues+1), 5000, 5) // 1,000 agents count by label
	if err == nil || !strings.Contains(err.Error(),
		"16016 values of labels × 1000 agents × 5 profiles are 80080000 counters") ||
		!strings.Contains(err.Error(), "leave out labels") {
		t.Errorf("%v", err)
	}
}

// Sums take room by their number and not by values times counters, and of labels that nobody
// wants the hosts are counted alone.
func TestRoomOfLabelSums(t *testing.T) {
	n := newLabelCounts()
	n.wanted = []string{"A"}
	var batch []schema.LabelCount
	const values, own = 500, 40
	for v := range values {
		value := strings.Repeat("v", v+1)
		for _, label := range []string{"a", "b"} {
			batch = append(batch, schema.LabelCount{Metric: "targets", Label: label, Value: value, Count: 2})
			for k := range own { // keys of its own
				batch = append(batch, schema.LabelCount{Metric: "m", Label: label, Value: value,
					Key: new(strings.Repeat("k", v*own+k+1)), Count: 3})
			}
		}
	}
	if err := n.read(0, batch); err != nil {
		t.Fatal(err)
	}
	other := newLabelCounts()
	if err := other.Merge(n); err != nil {
		t.Fatal(err)
	}
	if other.held == 0 || other.held > 2*values*4*sumsOfPage {
		t.Errorf("room for %d sums", other.held)
	}
	for _, label := range []string{"a", "b"} {
		sums, counters, total := other.sums[LabelValue{label, "vvv"}], 0, int64(0)
		for _, count := range sums.all() {
			counters, total = counters+1, total+count
		}
		if want := map[string]int{"a": own + 1, "b": 1}[label]; counters != want || total != int64(2+3*(want-1)) {
			t.Errorf("label %s: %d counters, %d in all, want %d", label, counters, total, want)
		}
	}
}
