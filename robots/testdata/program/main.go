// Program says which crawlers for AI training a robots.txt on standard input shuts out.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/robocensus/robocensus/pipeline/registry"
	"github.com/robocensus/robocensus/robots"
)

func main() {
	body, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	for _, agent := range registry.BuiltIn() {
		allowed, err := robots.Allowed(body, agent.Tokens[0], "https://news.example/")
		if err == nil && !allowed && agent.Category == "ai-training" {
			fmt.Println(agent.Name)
		}
	}
}
