package main

import (
	"os"
	"runtime/pprof"
)

func init() {
	if p := os.Getenv("RC_PROF"); p != "" {
		f, _ := os.Create(p)
		pprof.StartCPUProfile(f)
		os.Exit(func() int {
			c := mainCode(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
			pprof.StopCPUProfile()
			f.Close()
			return c
		}())
	}
}
