// Command duckdb asks DuckDB about a folder of tables, for people and tests
// that have no duckdb shell at hand. It is a module of its own so that the
// census stays free of cgo.
//
//	go run . OUT "SELECT outcome, count(*) FROM fetches GROUP BY 1"
package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: duckdb DIR SQL")
		os.Exit(64)
	}
	if err := query(os.Stdout, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "duckdb:", err)
		os.Exit(1)
	}
}

// query loads the views of dir and prints the answer to text as a table.
func query(out io.Writer, dir, text string) error {
	db, err := open(dir)
	if err != nil {
		return err
	}
	defer db.Close()
	return printAnswer(out, db, text)
}

func printAnswer(out io.Writer, db *sql.DB, text string) error {
	head, rows, err := ask(db, text)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.Join(head, "\t"))
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

// open makes a database with the views of dir.
func open(dir string) (*sql.DB, error) {
	views, err := os.ReadFile(filepath.Join(dir, "views.sql"))
	if err != nil {
		return nil, err
	}
	return load(dir, string(views))
}

// load makes a database with views, whose paths are relative to dir.
func load(dir, views string) (*sql.DB, error) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	where := strings.ReplaceAll(dir, "'", "''")
	for _, statement := range []string{"SET file_search_path = '" + where + "'", views} {
		if _, err := db.Exec(statement); err != nil {
			return nil, errors.Join(err, db.Close())
		}
	}
	return db, nil
}

// ask returns the names of the columns and the cells as text, null as NULL.
func ask(db *sql.DB, text string) (head []string, table [][]string, err error) {
	rows, err := db.Query(text)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	if head, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	for rows.Next() {
		cells := make([]any, len(head))
		for i := range cells {
			cells[i] = new(any)
		}
		if err := rows.Scan(cells...); err != nil {
			return nil, nil, err
		}
		line := make([]string, len(head))
		for i, cell := range cells {
			line[i] = show(*cell.(*any))
		}
		table = append(table, line)
	}
	return head, table, rows.Err()
}

func show(value any) string {
	switch v := value.(type) {
	case nil:
		return "NULL"
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.999999")
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	}
	return fmt.Sprint(value)
}
