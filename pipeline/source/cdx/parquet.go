package cdx

import (
	"errors"
	"os"

	"github.com/robocensus/robocensus/configs/userfile"
)

// Rows returns the number of rows of an index in Parquet.
func Rows(f *os.File, name string) (int64, error) {
	return 0, &userfile.Error{Path: name, Err: errors.New("is Parquet")}
}
