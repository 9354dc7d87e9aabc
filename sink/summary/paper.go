package summary

import "github.com/robocensus/robocensus/robots"

// What a robots.txt says to an agent, beside what a server does.
const (
	PaperOpen    = "open"
	PaperPartly  = "partly"
	PaperShutOut = "shut_out"
	PaperNothing = "nothing" // there is no file, or no group of it is for the agent
	PaperUnknown = "unknown"
)

// Papers lists them.
var Papers = []string{PaperOpen, PaperPartly, PaperShutOut, PaperNothing, PaperUnknown}

// PaperOf returns what a class says.
func PaperOf(c robots.Class) string {
	return map[robots.Class]string{robots.AllowAll: PaperOpen, robots.Partial: PaperPartly,
		robots.DisallowAll: PaperShutOut}[c]
}
