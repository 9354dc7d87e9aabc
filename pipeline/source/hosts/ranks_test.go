package hosts

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/robocensus/robocensus/fetch"
	"github.com/robocensus/robocensus/pipeline/source/input"
	"github.com/robocensus/robocensus/sink/store"
)

func TestRanksOfRows(t *testing.T) {
	targets, rejected, err := targetsOfFile(t, writeFile(t, "hosts", []byte("rank,url\n"+
		"0,https://zero.example/\n-1,https://less.example/\n1,https://one.example/\n"+
		",https://later.example/a\n7,https://later.example/b\n8,https://later.example/c\n")))
	must(t, err)
	want := []string{
		"1 https://zero.example https://zero.example/", "2 https://less.example https://less.example/",
		"3 https://one.example #1 https://one.example/",
		"4 https://later.example #7 https://later.example/a https://later.example/b https://later.example/c",
	}
	if diff := cmp.Diff(want, targets); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2 0,https://zero.example/: but kept", "3 -1,https://less.example/: but kept"},
		rejected); diff != "" {
		t.Error(diff)
	}
}

// Lists name sites, archives the hosts that answered for them: with www. or
// without.
func TestRanksAreOfSites(t *testing.T) {
	ranks, err := ReadRanks(t.Context(),
		writeFile(t, "ranks", []byte("1,bare.example\n2,www.named.example\n3,both.example\n4,www.both.example\n"+
			"5,bare.example\n")))
	must(t, err)
	for host, want := range map[string]int64{
		"bare.example": 1, "www.bare.example": 1, "named.example": 2, "www.named.example": 2, "both.example": 3,
		"www.both.example":      4,
		"www.www.named.example": 2, "other.example": 0, "www.other.example": 0, "a.bare.example": 0,
	} {
		if rank, ok := ranks.Of(parsed(t, "http://"+host)); rank != want || ok != (want > 0) {
			t.Errorf("%s has rank %d, %v; want %d", host, rank, ok, want)
		}
	}
}

// A host has the rank for all its origins but those that have one of their own, in either order.
// An origin without a rank has that of its host's front page.
func TestRanksOfOrigins(t *testing.T) {
	const list = "32625,http://both.example:8080\n17491,both.example\n50000,http://two.example\n" +
		"1000,https://two.example\n5,https://one.example/page\n6,port.example:8080\n7,https://www.site.example\n" +
		"8,ftp://files.example\n9,http://plain.example\n10,https://two.example\n"
	ranks, err := ReadRanks(t.Context(), writeFile(t, "ranks", []byte(list)))
	must(t, err)
	for origin, want := range map[string]int64{
		"http://both.example:8080": 32625, "https://both.example": 17491, "https://both.example:8080": 17491,
		"http://www.both.example":      17491,
		"http://www.both.example:8080": 32625, "http://two.example": 50000, "https://two.example": 1000,
		"https://two.example:8443": 1000,
		"http://one.example":       5, "https://www.one.example": 5, "https://port.example:8080": 6,
		"http://port.example:8080": 6,
		"https://port.example":     0,
		"http://site.example":      7, "ftp://files.example": 8, "https://files.example": 0, "https://plain.example:8443": 9,
	} {
		if rank, ok := ranks.Of(parsed(t, origin)); rank != want || ok != (want > 0) {
			t.Errorf("%s has rank %d, %v; want %d", origin, rank, ok, want)
		}
	}
	f, err := ReadFilter(t.Context(), List{Path: writeFile(t, "hosts", []byte(list))}, io.Discard, nil)
	must(t, err)
	if rank, _ := f.Ranks.Of(parsed(t, "http://two.example")); rank != 50000 {
		t.Errorf("a filter gives rank %d", rank)
	}
}

// A rank that is not read is no silent one: the first line says how many there are.
func TestUnreadRanks(t *testing.T) {
	for text, want := range map[string]string{
		"rank,host\n1,a.example\nx,b.example\n2.0,c.example\n1e3,d.example\n,e.example\n": "3,\"x,b.example\",\"bad_rank: " +
			"not a whole number from 1, the first of 2 such; these rows give none\",ranks\n",
		"1,a.example\n0,b.example\n": "2,\"0,b.example\",bad_rank: not a whole number from 1,ranks\n",
		"1,a.example\n":              "",
	} {
		ranks, err := ReadRanks(t.Context(), writeFile(t, "ranks", []byte(text)))
		must(t, err)
		in, err := store.CreateFolder(t.TempDir())
		must(t, err)
		file, err := in.Create("rejected.csv")
		must(t, err)
		rejects := input.NewAccount(file, nil, nil)
		must(t, ranks.Remark(rejects, "ranks"))
		_, err = rejects.Finish()
		must(t, err)
		must(t, file.Publish())
		got, err := in.Read("rejected.csv", 1<<20)
		must(t, err)
		if diff := cmp.Diff("line,text,reason,input\n"+want, string(got)); diff != "" {
			t.Error(diff)
		}
		if n, _ := rejects.Remarks(); (n == 0) != (want == "") || rejects.Lines() != 0 {
			t.Errorf("%d ranks unread, %d lines rejected", n, rejects.Lines())
		}
		must(t, in.Close())
	}
}

// A host in a filter means all its origins, a host with a port both schemes at that
// port, and an origin only itself.
func TestAFilterNamesOrigins(t *testing.T) {
	f, err := ReadFilter(t.Context(),
		List{Path: writeFile(t, "hosts",
			[]byte("any.example\nport.example:8080\nhttps://one.example\nhttp://plain.example:80\n"))}, io.Discard, nil)
	must(t, err)
	for url, want := range map[string]bool{
		"http://any.example": true, "https://any.example": true, "http://any.example:8080": true,
		"http://port.example:8080": true, "https://port.example:8080": true, "http://port.example": false,
		"https://port.example": false,
		"https://one.example":  true, "http://one.example": false, "https://one.example:8443": false,
		"http://plain.example": true, "https://plain.example": false, "http://other.example": false,
	} {
		if got := f.Has(parsed(t, url)); got != want {
			t.Errorf("%s passes: %v", url, got)
		}
	}
	if n := f.Unmet(); n != 0 {
		t.Errorf("%d names are not met, want none", n)
	}
	if got := f.Hosts(); !slices.Equal(got, []string{"any.example", "one.example", "plain.example", "port.example"}) {
		t.Errorf("hosts %q", got)
	}
	for range 2 {
		for host, want := range map[string]bool{"any.example": true, "one.example": true, "plain.example": true,
			"port.example": f.hosts != nil, "other.example": false} {
			if got := f.Names(host); got != want {
				t.Errorf("an origin of %s passes: %v", host, got)
			}
		}
		f.hosts = nil // as of a large list
	}
}

// The hosts of a large filter are not kept as text.
func TestHostsOfALargeFilter(t *testing.T) {
	var list strings.Builder
	for i := range mostHosts + 1 {
		fmt.Fprintf(&list, "h%d.example\n", i)
	}
	for text, want := range map[string]int{list.String(): 0,
		list.String()[:strings.LastIndex(list.String(), "h")]: mostHosts} {
		f, err := ReadFilter(t.Context(), List{Path: writeFile(t, "hosts", []byte(text))}, io.Discard, nil)
		must(t, err)
		if len(f.Hosts()) != want || !f.Names("h7.example") || f.Names("x.example") {
			t.Errorf("%d hosts, want %d", len(f.Hosts()), want)
		}
	}
}

func parsed(t *testing.T, url string) fetch.Origin {
	t.Helper()
	o, _, err := fetch.Parse(url, "http")
	must(t, err)
	return o
}

// Lists of ranks have hundreds of millions of rows: a row takes 16 bytes and the
// free slots of the hash table, whatever the names.
func TestRanksAreSmall_NoRace(t *testing.T) {
	const hosts = 150_000
	var list strings.Builder
	for i := range hosts {
		fmt.Fprintf(&list, "%d,host-of-some-length-%d.example\n", i+1, i)
	}
	list.WriteString("1000000,host-of-some-length-7.example\n") // the first rank counts
	file := writeFile(t, "ranks.csv", []byte(list.String()))
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := ReadRanks(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if used := int64(after.HeapAlloc) - int64(before.HeapAlloc); used > 48*hosts {
		t.Errorf("%d bytes for %d hosts", used, hosts)
	}
	for host, want := range map[string]int64{
		"host-of-some-length-7.example": 8, "www.host-of-some-length-149999.example": 150_000, "other.example": 0,
	} {
		if got, ok := r.Of(parsed(t, host)); got != want || ok != (want > 0) {
			t.Errorf("%s has rank %d, want %d", host, got, want)
		}
	}
}

func TestHashSet(t *testing.T) {
	var h hashSet
	for round := range 2 {
		for i := range 10_000 {
			if h.add(fmt.Sprint(i)) != (round == 0) {
				t.Fatalf("round %d, %d", round, i)
			}
		}
	}
}
