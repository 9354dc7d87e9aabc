// Package userfile reads files that users write. Its errors name the file, the line
// and what is expected there, without type names of Go. A YAML file holds one
// document of bounded size.
package userfile

import "fmt"

// Error reports bad input: what, where, and what to do. The command exits with
// code 65.
type Error struct {
	Path string
	Line int64 // 0 for the file as a whole
	Err  error
}

func (e *Error) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d: %v", e.Path, e.Line, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Path, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }
