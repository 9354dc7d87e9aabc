// Package others has the tests of package warc beside the libraries of others that read,
// check and deduplicate archives: gowarc of the National Library of Norway, and gowarc of
// the Internet Archive. Both are of use to tests alone.
package others
