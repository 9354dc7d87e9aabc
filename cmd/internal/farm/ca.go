package farm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

var tlsKinds = []string{"wrong_name", "expired", "untrusted", "tls10", "tls12", "unknown_name", "plain"}

// maxCertificates bounds the cache, at about 1 KB each. A full cache is
// cleared.
const maxCertificates = 50_000

// authority signs certificates on demand. They share one key, because nothing
// here is secret.
type authority struct {
	cert    *x509.Certificate
	pem     []byte
	key     *ecdsa.PrivateKey
	leafKey *ecdsa.PrivateKey

	mu    sync.Mutex
	cache map[string]*tls.Certificate
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "robofarm, for trials only"},
		NotBefore:             time.Now().AddDate(-1, 0, 0),
		NotAfter:              time.Now().AddDate(10, 0, 0),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{
		cert:    cert,
		pem:     pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:     key,
		leafKey: leafKey,
		cache:   map[string]*tls.Certificate{},
	}, nil
}

// leaf returns a certificate for name. Sibling names share one with a
// wildcard, so that h1.farm.test, h2.farm.test… cost one signature. The
// wildcard never covers a public suffix.
func (a *authority) leaf(name string, expired bool) (*tls.Certificate, error) {
	names := []string{name}
	ip := net.ParseIP(name)
	if ip == nil {
		registered, err := publicsuffix.EffectiveTLDPlusOne(name)
		if _, parent, found := strings.Cut(name, "."); found && err == nil && registered != name {
			names = []string{parent, "*." + parent}
		}
	}
	key := fmt.Sprint(names, expired)
	a.mu.Lock()
	defer a.mu.Unlock()
	if cert := a.cache[key]; cert != nil {
		return cert, nil
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		NotBefore:    time.Now().AddDate(-1, 0, 0),
		NotAfter:     time.Now().AddDate(1, 0, 0),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:     names,
	}
	if ip != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{ip}
	}
	if expired {
		template.NotAfter = time.Now().AddDate(0, 0, -1)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, a.leafKey.Public(), a.key)
	if err != nil {
		return nil, fmt.Errorf("certificate for %q: %w", name, err)
	}
	if len(a.cache) >= maxCertificates {
		clear(a.cache)
	}
	cert := &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: a.leafKey}
	a.cache[key] = cert
	return cert, nil
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // crypto/rand does not fail
	}
	return n
}

// configs returns the TLS configurations by kind of fault, "" for none.
// untrusted signs for hosts with the fault of that name.
func configs(trusted, untrusted *authority) map[string]*tls.Config {
	base := func(a *authority, change func(*tls.ClientHelloInfo) (name string, expired bool)) *tls.Config {
		return &tls.Config{
			// The cheapest key exchange that every client supports. No
			// tickets, because a census connects to a host once.
			CurvePreferences:       []tls.CurveID{tls.X25519, tls.CurveP256},
			SessionTicketsDisabled: true,
			GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
				return a.leaf(change(hello))
			},
		}
	}
	right := func(hello *tls.ClientHelloInfo) (string, bool) { return helloName(hello), false }
	all := map[string]*tls.Config{
		"":           base(trusted, right),
		"untrusted":  base(untrusted, right),
		"expired":    base(trusted, func(hello *tls.ClientHelloInfo) (string, bool) { return helloName(hello), true }),
		"wrong_name": base(trusted, func(*tls.ClientHelloInfo) (string, bool) { return "somebody-else.invalid", false }),
		"tls10":      base(trusted, right),
		"tls12":      base(trusted, right),
		// A server without a certificate refuses every name.
		"unknown_name": {},
	}
	all["tls10"].MinVersion, all["tls10"].MaxVersion = tls.VersionTLS10, tls.VersionTLS10
	all["tls12"].MinVersion, all["tls12"].MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	return all
}

// helloName returns the host that a client asks for: the server name or, if
// the client sent none, the address it dialled.
func helloName(hello *tls.ClientHelloInfo) string {
	name := strings.ToLower(strings.TrimSuffix(hello.ServerName, "."))
	if name == "" {
		name, _, _ = net.SplitHostPort(hello.Conn.LocalAddr().String())
	}
	return name
}
