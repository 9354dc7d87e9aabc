// Package writers reads archives that other programs have written: GNU wget, gowarc of the
// Internet Archive and gowarc of the National Library of Norway, each of which has its own
// way to name the original of a revisit record. It is a module of its own, so that only its
// tests need them. wget comes from the system; its tests are skipped without it.
package writers
