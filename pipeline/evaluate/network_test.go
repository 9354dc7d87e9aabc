package evaluate

import "testing"

func TestPartsOfTheNetwork(t *testing.T) {
	for tld, want := range map[string]string{"com": "com", "uk": "uk", "ck": "ck", "xn--p1ai": "xn--p1ai", "test": "test", "made-up": "other"} {
		if got := tldKey(&tld); got != want {
			t.Errorf("%s is counted as %s, want %s", tld, got, want)
		}
	}
	for address, want := range map[string]string{
		"93.184.216.34": "93.0.0.0/8", "::ffff:10.1.2.3": "10.0.0.0/8", "2a00:1450::1": "2a00::/12", "fe80::1%eth0": "fe80::/12", "?": "other",
	} {
		if got := blockKey(&address); got != want {
			t.Errorf("%s is in %s, want %s", address, got, want)
		}
	}
	for header, want := range map[string]string{
		"nginx": "nginx", "nginx/1.2": "nginx", "Apache (Debian)": "apache", "Microsoft-IIS/6.0": "microsoft-iis", "": "other", "\x1b[31m": "other",
	} {
		if got := serverKey(&header); got != want {
			t.Errorf("%q is %s, want %s", header, got, want)
		}
	}
}
