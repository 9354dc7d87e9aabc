package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"sync"

	"github.com/parquet-go/parquet-go"
)

// Loosened are the columns, of any table, that an earlier version could not leave null.
var Loosened = map[string]bool{"is_utf8": true}

// ColumnsDigest returns the SHA-256 of the columns of all tables, with their types, in
// hexadecimal: parts of runs that have it in common can be read as one.
func ColumnsDigest() string { return columnsDigest() }

var columnsDigest = sync.OnceValue(func() string {
	sum := sha256.New()
	for _, t := range tables {
		rows := parquet.SchemaOf(reflect.New(t.row).Interface())
		for _, path := range rows.Columns() {
			c, _ := rows.Lookup(path...)
			fmt.Fprintln(sum, t.Name, path, c.Node.Type(), c.MaxRepetitionLevel, c.MaxDefinitionLevel)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
})
