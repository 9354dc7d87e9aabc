//go:build race

package fetch

func init() { raceDetector = true }
