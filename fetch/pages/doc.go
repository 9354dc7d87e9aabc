// Package pages asks for one page of a host under each further identity, and tells what each
// met: what the server does, beside what robots.txt says.
//
//	plan.go   what is asked, of whom, and when not
//	found.go  what came of it
package pages
