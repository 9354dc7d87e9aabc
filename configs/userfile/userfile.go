// Package userfile reads the files that users write and says what is wrong
// with them: which file, which line, and in a user's words what is expected.
// YAML files hold one document of bounded size.
package userfile

import "fmt"

// Error is bad input: what, where, and what to do. The command exits with 65
// for it.
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
