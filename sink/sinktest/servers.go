package sinktest

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"os"
)

// TrustTestServers has this process trust the certificate of httptest. It must be
// called before any certificate is verified.
func TrustTestServers() {
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	f, err := os.CreateTemp("", "robocensus-ca-*.pem")
	if err == nil {
		err = pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	}
	if err != nil {
		panic(err)
	}
	f.Close()
	defer os.Remove(f.Name())
	os.Setenv("SSL_CERT_FILE", f.Name())
	x509.SystemCertPool() // which is read once
}
