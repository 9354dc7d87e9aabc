package store

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"syscall"

	"github.com/robocensus/robocensus/sink/store/remote"
)

// Fault says what is at fault when stored data cannot be read or written.
type Fault int

const (
	// OfData is the fault of the data: a file is missing or something else than a file,
	// too short or too long, has other bytes, or cannot be decoded.
	OfData Fault = iota
	// OfStore is the fault of the store, of the way to it, or of this machine. The data
	// may be whole, and trying again may succeed.
	OfStore
	// OfSettings is the fault of a key, bucket, region or URL that the user gives.
	// Trying again changes nothing.
	OfSettings
)

// FaultOf returns what an error is the fault of. No other place decides that: whoever
// takes an error of a busy store for damage tells the user to make a whole run anew.
func FaultOf(err error) Fault {
	is := func(causes ...error) bool {
		return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
	}
	system, isSystem := errors.AsType[syscall.Errno](err)
	switch {
	case is(remote.ErrRefused, remote.ErrScheme, remote.ErrFolder, remote.ErrNoCondition, ErrUnconditional):
		return OfSettings
	case is(remote.ErrTransfer, remote.ErrScratch, context.Canceled, context.DeadlineExceeded):
		return OfStore
	case isSystem && !isOfName(system):
		return OfStore
	}
	return OfData
}

// isOfName reports whether the system found something else than the file of a name.
// Every other answer, such as too many open files, says nothing about the file.
func isOfName(err syscall.Errno) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) ||
		slices.Contains([]syscall.Errno{syscall.ENOTDIR, syscall.EISDIR, syscall.ELOOP, syscall.ENAMETOOLONG, syscall.ENXIO,
			syscall.ENODEV}, err)
}
