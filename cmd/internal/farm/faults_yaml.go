package farm

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/robocensus/robocensus/configs/userfile"
)

// maxFaults bounds the bytes read. It exceeds the limit of package userfile,
// which reports a file that is too large.
const maxFaults = 64 << 20

// ParseFaults reads a faults file as [FaultFormat] describes it. name is the
// name of the file: errors begin with it and a line number, and body_file is
// relative to its folder.
func ParseFaults(r io.Reader, name string) (*Faults, error) {
	p := &parser{name: name}
	text, err := io.ReadAll(io.LimitReader(r, maxFaults+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	root, err := userfile.Parse(name, text)
	if err != nil {
		return nil, p.syntax(err)
	}
	if root == nil {
		return &Faults{file: name}, nil
	}
	faults := &Faults{file: name, exact: map[string]*entry{}}
	err = p.pairs(root, func(key, value *yaml.Node) error {
		e := &entry{pattern: strings.ToLower(key.Value)}
		if err := p.alternatives(e, value); err != nil {
			return err
		}
		if strings.Contains(e.pattern, "*") {
			e.match = glob(e.pattern)
			faults.globs = append(faults.globs, e)
			return nil
		}
		host, port := splitPort(e.pattern)
		faults.exact[withPort(host, port)] = e
		return nil
	})
	if err != nil {
		return nil, err
	}
	return faults, nil
}

func (p *parser) alternatives(e *entry, value *yaml.Node) error {
	used := 0.0
	for _, n := range list(value) {
		a, share, err := p.alternative(follow(n))
		if err != nil {
			return err
		}
		if share > 0 {
			a.from, a.to = used, used+share
			used = a.to
		}
		if used > 1+1e-9 {
			return p.errorf(n, "the shares of %q add up to more than 100%%", e.pattern)
		}
		e.alts = append(e.alts, a)
	}
	return nil
}

// alternative reads a fault with the keys that are allowed at the outermost
// level only.
func (p *parser) alternative(n *yaml.Node) (a alternative, share float64, err error) {
	a.scheme = [2]bool{true, true}
	var after []*fault
	first, err := p.fault(n, func(f *fault, key, v *yaml.Node) (err error) {
		switch key.Value {
		case "share":
			share, err = p.share(v)
		case "schemes":
			a.scheme, err = p.schemes(v)
		case "then":
			after, err = p.then(v)
		default:
			err = p.stepKey(f, key, v)
		}
		return err
	})
	a.steps = append([]*fault{first}, after...)
	return a, share, err
}

// then reads the steps after the first.
func (p *parser) then(v *yaml.Node) ([]*fault, error) {
	var steps []*fault
	for _, n := range list(v) {
		step, err := p.fault(follow(n), p.stepKey)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// fault reads a fault: a status, or a map whose entries key reads.
func (p *parser) fault(n *yaml.Node, key func(f *fault, key, v *yaml.Node) error) (*fault, error) {
	f := &fault{truncate: -1, line: n.Line}
	var err error
	if n.Kind == yaml.ScalarNode {
		err = p.statuses(f, n)
	} else {
		err = p.pairs(n, func(k, v *yaml.Node) error { return key(f, k, v) })
	}
	if err == nil {
		err = p.check(f, n)
	}
	if f.times == 0 {
		f.times = max(1, len(f.statuses))
	}
	return f, err
}

// stepKey reads a key that is allowed in a step but not under paths, or any
// key of a fault.
func (p *parser) stepKey(f *fault, key, v *yaml.Node) (err error) {
	switch key.Value {
	case "times":
		f.times, err = p.number(v, 1, math.MaxInt32)
	case "paths":
		err = p.paths(f, v)
	case "as":
		err = p.as(f, v)
	case "tls":
		err = p.oneOf(&f.tls, v, tlsKinds...)
	default:
		err = p.key(f, key, v)
	}
	return err
}

func (p *parser) paths(f *fault, v *yaml.Node) error {
	return p.pairs(v, func(key, value *yaml.Node) error {
		if !strings.HasPrefix(key.Value, "/") && key.Value != "*" {
			return p.errorf(key, "a path begins with / (or is *, any other)")
		}
		inner, err := p.fault(value, p.pathKey)
		if err != nil {
			return err
		}
		if len(inner.statuses) > 1 || inner.cut.at == inHandshake {
			return p.errorf(value, "lists of statuses and handshakes are for the host as a whole, not for a path")
		}
		f.paths = append(f.paths, pathFault{glob(key.Value), inner})
		return nil
	})
}

// pathKey reads a key that is allowed under a path.
func (p *parser) pathKey(f *fault, key, v *yaml.Node) error {
	if key.Value == "as" {
		return p.as(f, v)
	}
	return p.key(f, key, v)
}

func (p *parser) as(f *fault, v *yaml.Node) error {
	return p.pairs(v, func(key, value *yaml.Node) error {
		inner, err := p.fault(value, p.key)
		if err != nil {
			return err
		}
		if key.Value == "" || len(inner.statuses) > 1 || inner.cut.at == inHandshake {
			return p.errorf(value, "give a part of the user agent, and no list of statuses nor handshake")
		}
		f.as = append(f.as, agentFault{key.Value, inner})
		return nil
	})
}

// key reads a key that is allowed in every fault.
func (p *parser) key(f *fault, key, v *yaml.Node) (err error) {
	switch key.Value {
	case "status":
		err = p.statuses(f, v)
	case "reason":
		f.reason, err = p.text(v)
	case "version":
		err = p.oneOf(&f.version, v, "1.0", "1.1")
	case "headers":
		err = p.headers(f, v)
	case "retry_after":
		f.headers = append(f.headers, header{"Retry-After", v.Value})
		_, err = p.text(v)
	case "cookies":
		var n int
		n, err = p.number(v, 1, 10_000)
		for i := range n {
			f.headers = append(f.headers, header{"Set-Cookie", fmt.Sprintf("farm%d=%d; Path=/", i+1, i+1)})
		}
	case "header_count":
		f.headerCount, err = p.number(v, 1, 1_000_000)
	case "header_bytes":
		f.headerBytes, err = p.size(v, 1<<30)
	case "redirect":
		_, err = p.text(v)
		f.redirect = v.Value
	case "hops":
		f.hops, err = p.number(v, 1, 1_000_000)
	case "body":
		f.body, err = p.text(v)
	case "body_file":
		f.body, err = p.file(v)
	case "body_from":
		_, err = p.text(v)
		f.bodyFrom = strings.ToLower(v.Value)
	case "pad":
		f.pad, err = p.size(v, 1<<30)
	case "encoding":
		err = p.oneOf(&f.encoding, v, "gzip", "br", "zstd")
	case "bomb":
		var n int
		n, err = p.size(v, 1<<36)
		f.bomb = newBomb(n)
	case "interim":
		f.interim, err = p.numbers(v, 100, 199)
	case "interim_only":
		f.interim, err = p.numbers(v, 100, 199)
		f.interimOnly = true
	case "delay":
		err = p.duration(&f.delay, v)
	case "body_delay":
		err = p.duration(&f.bodyDelay, v)
	case "reset", "close", "hang":
		err = p.cut(f, key, v)
	case "truncate":
		f.truncate, err = p.size(v, 1<<40)
	case "drip":
		err = p.drip(f, v)
	case "framing":
		err = p.oneOf(&f.framing, v, "chunked", "close", "bad_chunk")
	case "garbage":
		var on bool
		on, err = p.yes(v)
		if on {
			f.raw = &noise
		}
	case "raw":
		f.raw, err = p.text(v)
	case "http09":
		f.http09, err = p.yes(v)
	case "share", "schemes", "times", "then", "paths", "as", "tls":
		err = p.errorf(key, "%q is not allowed here, only at an outer level", key.Value)
	default:
		err = p.errorf(key, "unknown key %q; robofarm help faults lists them", key.Value)
	}
	return err
}

// check returns an error if keys of a fault exclude each other.
func (p *parser) check(f *fault, n *yaml.Node) error {
	bodies := 0
	for _, given := range []bool{f.body != nil, f.bodyFrom != "", f.bomb != nil} {
		if given {
			bodies++
		}
	}
	switch {
	case bodies > 1:
		return p.errorf(n, "more than one of body, body_file, body_from and bomb")
	case f.bomb != nil && (f.framing != "" || f.encoding != "" || f.pad > 0 || f.truncate >= 0):
		return p.errorf(n, "a bomb cannot have framing, encoding, pad or truncate")
	case f.raw != nil && f.http09:
		return p.errorf(n, "more than one of garbage, raw and http09")
	}
	return nil
}

func (p *parser) statuses(f *fault, v *yaml.Node) (err error) {
	f.statuses, err = p.numbers(v, 0, 9999)
	return err
}

func (p *parser) headers(f *fault, v *yaml.Node) error {
	return p.pairs(v, func(key, value *yaml.Node) error {
		for _, n := range list(value) {
			if _, err := p.text(follow(n)); err != nil {
				return err
			}
			f.headers = append(f.headers, header{key.Value, follow(n).Value})
		}
		return nil
	})
}

func (p *parser) cut(f *fault, key, v *yaml.Node) error {
	if f.cut.at != nowhere {
		return p.errorf(key, "%s and %s: a connection ends once", f.cut.how, key.Value)
	}
	at, err := p.place(v, "handshake", "start", "header", "body")
	f.cut = cut{key.Value, at}
	return err
}

func (p *parser) place(v *yaml.Node, allowed ...string) (place, error) {
	var name string
	if err := p.oneOf(&name, v, allowed...); err != nil {
		return nowhere, err
	}
	return map[string]place{"handshake": inHandshake, "start": atStart, "header": inHeader, "body": inBody}[name], nil
}

func (p *parser) drip(f *fault, v *yaml.Node) error {
	f.drip = drip{bytes: 1, from: inBody}
	err := p.pairs(v, func(key, value *yaml.Node) (err error) {
		switch key.Value {
		case "bytes":
			f.drip.bytes, err = p.size(value, 1<<30)
		case "every":
			err = p.duration(&f.drip.every, value)
		case "from":
			f.drip.from, err = p.place(value, "header", "body")
		default:
			err = p.errorf(key, "unknown key %q; a drip has bytes, every and from", key.Value)
		}
		return err
	})
	if err == nil && (f.drip.every == 0 || f.drip.bytes == 0) {
		err = p.errorf(v, "a drip needs every, as in {bytes: 1, every: 1s}")
	}
	return err
}

// file returns the contents of a file; its name is relative to the folder of
// the faults file.
func (p *parser) file(v *yaml.Node) (*string, error) {
	name := v.Value
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(p.name), name)
	}
	body, err := os.ReadFile(name)
	var path *os.PathError
	if errors.As(err, &path) {
		return nil, p.errorf(v, "body_file %s: %w", name, path.Err)
	} else if err != nil {
		return nil, p.errorf(v, "body_file: %w", err)
	}
	text := string(body)
	return &text, nil
}
