//go:build race

package summary

func init() { raceDetector = true }
