package main

import (
	"context"
	"database/sql"
	"os"
	"regexp"
	"strings"
	"testing"
)

// DuckDB reads the secrets that configs/deploy/README.md gives, and looks for their types and
// providers where the README installs them from. Which keys a secret has, and whether it opens a
// bucket, only the extensions know, which DuckDB downloads and tests do not have.
func TestSecretsOfTheDocuments(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../configs/deploy/README.md")
	must(t, err)
	_, block, _ := strings.Cut(string(text), "cat > secret.sql <<'END'\n")
	block, _, found := strings.Cut(block, "\nEND\n")
	if !found {
		t.Fatal("the README gives no secrets")
	}
	db, err := sql.Open("duckdb", "")
	must(t, err)
	defer db.Close()
	conn, err := db.Conn(t.Context())
	must(t, err)
	defer conn.Close()
	_, err = conn.ExecContext(t.Context(),
		"SET autoinstall_known_extensions = false; SET autoload_known_extensions = false")
	must(t, err)
	installed, secrets := make(map[string]bool), 0
	for statement := range strings.SplitSeq(regexp.MustCompile(`(?m)^-- (or .*|AWS, .*)?`).ReplaceAllString(block, ""),
		";") {
		statement = strings.TrimSpace(statement)
		words := strings.Fields(statement)
		switch {
		case len(words) == 0:
		case words[0] == "INSTALL":
			installed[words[1]] = true
			fallthrough
		case words[0] == "LOAD":
			prepared, err := conn.PrepareContext(context.Background(), statement) // which reads it, and installs nothing
			if err != nil {
				t.Errorf("%s: %v", statement, err)
				continue
			}
			prepared.Close()
		default:
			secrets++
			_, err := conn.ExecContext(t.Context(), statement)
			extension := "httpfs"
			if strings.Contains(statement, "azure") {
				extension = "azure"
			} else if strings.Contains(statement, "credential_chain") {
				extension = "aws"
			}
			if err == nil || !strings.Contains(err.Error(), "exists in the "+extension+" extension") || !installed[extension] {
				t.Errorf("%s: %v; want one that asks for the extension %s", statement, err, extension)
			}
		}
	}
	if secrets < 4 {
		t.Errorf("%d secrets", secrets)
	}
}
