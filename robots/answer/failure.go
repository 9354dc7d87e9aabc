package answer

// ErrorClass says why a request got no usable answer. It is empty if it got
// one.
type ErrorClass string

const (
	ErrorDNSNotFound     ErrorClass = "dns_not_found"
	ErrorDNSNoAddress    ErrorClass = "dns_no_address" // the name exists
	ErrorDNSFailure      ErrorClass = "dns_failure"
	ErrorAddressBlocked  ErrorClass = "address_blocked" // we refused to dial the address
	ErrorNoRoute         ErrorClass = "no_route"        // this machine cannot reach the host's address family
	ErrorConnectRefused  ErrorClass = "connect_refused"
	ErrorConnectTimeout  ErrorClass = "connect_timeout"
	ErrorConnectFailure  ErrorClass = "connect_failure"
	ErrorTLS             ErrorClass = "tls"
	ErrorTimeout         ErrorClass = "timeout"
	ErrorReset           ErrorClass = "reset"
	ErrorProtocol        ErrorClass = "protocol"         // not HTTP, bad chunking
	ErrorUndecodableBody ErrorClass = "undecodable_body" // bad content coding
	// before the file was asked for, by a reply that means another thing of it
	ErrorFTPRefused          ErrorClass = "ftp_refused"
	ErrorTruncatedBody       ErrorClass = "truncated_body"
	ErrorHeaderTooLarge      ErrorClass = "header_too_large"
	ErrorCanceled            ErrorClass = "canceled" // the run was stopped
	ErrorRedirectInvalid     ErrorClass = "redirect_invalid"
	ErrorRedirectUnsupported ErrorClass = "redirect_unsupported"
	ErrorRedirectLoop        ErrorClass = "redirect_loop"
	ErrorRedirectLimit       ErrorClass = "redirect_limit"

	// Facts.Failure returns these classes for a final status that gives no answer.
	ErrorServerError      ErrorClass = "server_error"
	ErrorUnexpectedStatus ErrorClass = "unexpected_status"
)

// errorRows is the table of error classes: what follows from a class, in any
// package, follows from its row.
var errorRows = [...]struct {
	class     ErrorClass
	words     string
	answer    Reason // class of an answer that ends so
	mayBeOurs bool   // an outage of the asking machine looks the same
}{
	{ErrorDNSNotFound, "DNS: no such name", NetworkFailure, false},
	{ErrorDNSNoAddress, "DNS: name without an address", NetworkFailure, false},
	{ErrorDNSFailure, "DNS failure", NetworkFailure, true},
	{ErrorAddressBlocked, "special address, not asked", AddressBlocked, false},
	{ErrorNoRoute, "no route from this machine", NoRoute, true},
	{ErrorConnectRefused, "connection refused", NetworkFailure, false},
	{ErrorConnectTimeout, "timeout while connecting", NetworkFailure, true},
	{ErrorConnectFailure, "connection failed", NetworkFailure, true},
	{ErrorTLS, "TLS failure", NetworkFailure, true},
	{ErrorTimeout, "timeout", NetworkFailure, true},
	{ErrorReset, "connection reset", NetworkFailure, true},
	{ErrorProtocol, "not valid HTTP", InvalidResponse, false},
	{ErrorUndecodableBody, "body does not decode", InvalidResponse, false},
	{ErrorFTPRefused, "FTP session refused", ServerError, false},
	{ErrorTruncatedBody, "answer broke off", IncompleteBody, true},
	{ErrorHeaderTooLarge, "header too large", InvalidResponse, false},
	{ErrorCanceled, "run was stopped", canceled, false},
	{ErrorRedirectInvalid, "redirect without a usable location", RedirectInvalid, false},
	{ErrorRedirectUnsupported, "redirect to what cannot be crawled", RedirectUnsupported, false},
	{ErrorRedirectLoop, "redirects in a loop", RedirectLoop, false},
	{ErrorRedirectLimit, "too many redirects", RedirectLimit, false},
	{ErrorServerError, "server error", ServerError, false},
	{ErrorUnexpectedStatus, "unexpected status", otherStatus, false},
}

// ErrorClasses holds all error classes.
var ErrorClasses = func() (classes []ErrorClass) {
	for _, row := range errorRows {
		classes = append(classes, row.class)
	}
	return classes
}()

func (c ErrorClass) row() int {
	for i := range errorRows {
		if errorRows[i].class == c {
			return i
		}
	}
	return -1
}

// Words says in a few words what went wrong.
func (c ErrorClass) Words() string {
	if i := c.row(); i >= 0 {
		return errorRows[i].words
	}
	return ""
}

// Answer returns the class of an answer that ends with such an error. If that is
// an outage, a status of 4xx or 5xx stands nonetheless.
func (c ErrorClass) Answer() Reason {
	if i := c.row(); i >= 0 {
		return errorRows[i].answer
	}
	return NetworkFailure
}

// IsNoHost reports whether a name server has said that nobody is to be found under the
// name.
func (c ErrorClass) IsNoHost() bool { return c == ErrorDNSNotFound || c == ErrorDNSNoAddress }

// MayBeOurs reports whether an outage of the asking machine looks the same.
func (c ErrorClass) MayBeOurs() bool {
	i := c.row()
	return i >= 0 && errorRows[i].mayBeOurs
}
