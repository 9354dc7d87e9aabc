module github.com/robocensus/robocensus/robots/compare

go 1.26.0

replace github.com/robocensus/robocensus => ../..

require (
	github.com/robocensus/robocensus v0.0.0
	github.com/temoto/robotstxt v1.1.2
)

require (
	github.com/dunglas/httpsfv v1.1.2 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)
