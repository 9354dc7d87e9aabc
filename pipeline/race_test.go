//go:build race

package pipeline

func init() { raceDetector = true }
