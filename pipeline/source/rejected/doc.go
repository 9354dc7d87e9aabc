// Package rejected accounts for the input of a run that is not a target, so that no line
// is lost silently.
//
//	rejected.go  Account writes rejected.csv and counts what is skipped
//	merge.go     Merge joins the files of shards into the one of the whole run
package rejected
