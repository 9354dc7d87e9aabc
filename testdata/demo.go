// Package testdata holds a small web of our own writing: the hosts that
// `robocensus demo` takes its census of.
package testdata

import "embed"

// Demo has demo/hosts (one robots.txt per host), demo/hosts.csv (the list of
// them) and demo/faults.yaml (the hosts that misbehave).
//
//go:embed all:demo
var Demo embed.FS
