module github.com/robocensus/robocensus/sink/internal/s3server

go 1.26.0
