package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLabels(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 500: "500", 1000: "1k", 20_000: "20k", 500_000: "500k", 1_000_000: "1M",
		5_000_000_000: "5G"} {
		if got := short(n); got != want {
			t.Errorf("%d is labelled %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0\u00a0µs", 999: "999\u00a0µs", 4300: "4.3\u00a0ms", 2000: "2\u00a0ms",
		93_000: "93\u00a0ms", 1_000_000: "1\u00a0s", 1_540_000: "1.5\u00a0s"} {
		if got := microsName(n); got != want {
			t.Errorf("%d is labelled %s, want %s", n, got, want)
		}
	}
}

// A bar shows the shares of both bases, each under its head; if the rules of all hosts
// decide, it shows one.
func TestSharesOfBothBases(t *testing.T) {
	d := &data{hosts: 1000, files: 400}
	if diff := cmp.Diff([][]string{{"of hosts", "with rules"}, {"3.0%", "7.5%"},
		{"3.0% of hosts", "7.5% of those with rules"}}, [][]string{d.heads(), d.shares(30), d.of(30)}); diff != "" {
		t.Error(diff)
	}
	d.files = 1000
	if diff := cmp.Diff([][]string{nil, {"3.0%"}, {"3.0% of hosts"}}, [][]string{d.heads(), d.shares(30),
		d.of(30)}); diff != "" {
		t.Error(diff)
	}
}
