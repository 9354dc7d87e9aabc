#!/usr/bin/env bash
# gofakes3 1.2.0, an S3 server for tests in Go, lists a folder again on the next page if its keys stand
# on both sides of the page's end, and a folder that has a marker of its own not as a folder.
#
# With a delimiter S3 rolls keys up to common prefixes, each of which counts as one return, whatever
# number of keys it has, and is listed in one place (Amazon S3 API Reference, ListObjectsV2: Delimiter
# and CommonPrefixes). The store in memory of gofakes3 goes on behind the first key of the last folder
# of a page, whose other keys make the folder anew. A data set with more folders than a page holds, one
# for each day or class, has one too many for each page, also by the pager of Amazon's SDK. Its other
# store, in a file of bbolt, goes on behind the folder's last key. Both list the key "empty/", which
# consoles create for a folder, as an object where S3 has the common prefix "empty/" of the one key:
# a loader that goes through folders finds an object, and a count of objects one more. s3rver 3.7.1
# (npm) has the folder.
#
# Seen with Go 1.26, Node.js 20 and aws-sdk-go-v2/service/s3 1.114.10:
#
#   gofakes3 v1.2.0
#   1500 folders of two objects, page by page: memory 1501, bbolt 1500
#   3 folders of two objects, one on a page: memory 6, bbolt 3
#   3 folders of two objects, three on a page: memory 4, bbolt 3
#   d/1, d/2, e, empty/: memory folders d/, objects e empty/
#   d/1, d/2, e, empty/: bbolt folders d/, objects e empty/
#   d/1, d/2, e, empty/: s3rver folders d/ empty/, objects e
#
# Exits with 0 if it is still so, with 1 if not. Needs go, node and npm.
set -euo pipefail
work=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-fund --no-audit --prefix . s3rver@3.7.1 >npm.log 2>&1 || { cat npm.log; exit 1; }
export GOFLAGS=-mod=mod GOWORK=off
go mod init example.org/seen >go.log 2>&1
go get github.com/johannesboyne/gofakes3@v1.2.0 github.com/aws/aws-sdk-go-v2/service/s3@v1.114.10 \
  github.com/aws/aws-sdk-go-v2/credentials >>go.log 2>&1 || { cat go.log; exit 1; }

cat >serve.js <<'JS'
const S3rver = require('s3rver');
const configureBuckets = [{ name: 'bucket' }];
new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: './objects', configureBuckets })
  .run().then((address) => console.log(address.port));
JS
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"log"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3bolt"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

var ctx = context.Background()

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func client(url string) *s3.Client {
	return s3.New(s3.Options{
		BaseEndpoint: aws.String(url), Region: "us-east-1", UsePathStyle: true,
		Credentials:                credentials.NewStaticCredentialsProvider("S3RVER", "S3RVER", ""),
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
	})
}

func put(c *s3.Client, bucket string, keys ...string) {
	for _, key := range keys {
		must(c.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader("")}))
	}
}

func list(c *s3.Client, bucket string, page int32) (folders, objects []string) {
	in := &s3.ListObjectsV2Input{Bucket: &bucket, Delimiter: aws.String("/")}
	if page > 0 {
		in.MaxKeys = &page
	}
	for pages := s3.NewListObjectsV2Paginator(c, in); pages.HasMorePages(); {
		out := must(pages.NextPage(ctx))
		for _, p := range out.CommonPrefixes {
			folders = append(folders, *p.Prefix)
		}
		for _, o := range out.Contents {
			objects = append(objects, *o.Key)
		}
	}
	return folders, objects
}

func main() {
	names := []string{"memory", "bbolt"}
	clients := map[string]*s3.Client{"s3rver": client(os.Args[1])}
	for i, store := range []gofakes3.Backend{s3mem.New(), must(s3bolt.NewFile("objects.db"))} {
		if err := store.CreateBucket("bucket"); err != nil {
			log.Fatal(err)
		}
		server := httptest.NewServer(gofakes3.New(store).Server())
		defer server.Close()
		clients[names[i]] = client(server.URL)
	}
	for _, of := range []struct {
		folders int
		page    int32
		words   string
	}{{1500, 0, "page by page"}, {3, 1, "one on a page"}, {3, 3, "three on a page"}} {
		var counts []string
		bucket := fmt.Sprintf("bucket-%d-%d", of.folders, of.page)
		for _, name := range names {
			c := clients[name]
			must(c.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &bucket}))
			for i := range of.folders {
				put(c, bucket, fmt.Sprintf("%04d/1", i), fmt.Sprintf("%04d/2", i))
			}
			folders, _ := list(c, bucket, of.page)
			counts = append(counts, fmt.Sprintf("%s %d", name, len(folders)))
		}
		fmt.Printf("%d folders of two objects, %s: %s\n", of.folders, of.words, strings.Join(counts, ", "))
	}
	keys := []string{"d/1", "d/2", "e", "empty/"}
	for _, name := range append(names, "s3rver") {
		put(clients[name], "bucket", keys...)
		folders, objects := list(clients[name], "bucket", 0)
		fmt.Printf("%s: %s folders %s, objects %s\n", strings.Join(keys, ", "), name,
			strings.Join(folders, " "), strings.Join(objects, " "))
	}
}
GO
go mod tidy >>go.log 2>&1 || { cat go.log; exit 1; }
go build -o ask . >>go.log 2>&1 || { cat go.log; exit 1; }
mkfifo port
node serve.js >port 2>serve.log &
server=$!
read -r port <port || { cat serve.log; exit 1; }
{
	echo "gofakes3 $(go list -m -f '{{.Version}}' github.com/johannesboyne/gofakes3)"
	./ask "http://127.0.0.1:$port" 2>ask.log || { cat ask.log >&2; exit 1; }
} | tee seen
diff seen - <<'SEEN' || { echo "it behaves otherwise now"; exit 1; }
gofakes3 v1.2.0
1500 folders of two objects, page by page: memory 1501, bbolt 1500
3 folders of two objects, one on a page: memory 6, bbolt 3
3 folders of two objects, three on a page: memory 4, bbolt 3
d/1, d/2, e, empty/: memory folders d/, objects e empty/
d/1, d/2, e, empty/: bbolt folders d/, objects e empty/
d/1, d/2, e, empty/: s3rver folders d/ empty/, objects e
SEEN
