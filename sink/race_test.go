//go:build race

package sink

func init() { raceDetector = true }
