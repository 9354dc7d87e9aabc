//go:build race

package robots

func init() { raceDetector = true }
