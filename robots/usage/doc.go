// Package usage reads what is stated about the use of content: in lines of a robots.txt
// (Content-Usage, Content-Signal, License) and in headers of a page. Which use a label
// stands for is data, a Vocabulary. Package robots says for which agents and paths a line
// holds.
//
//	usage.go        lines about use, and what they state
//	page_header.go  headers of a page about use
package usage
