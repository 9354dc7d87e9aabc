package farm

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Latency draws one delay per host. A host has the same delay in every farm
// with the same distribution and seed. A nil *Latency delays no host.
type Latency struct {
	draw func(random) time.Duration
	seed uint64
}

// forever is the delay of a host that never answers.
const forever = time.Duration(math.MaxInt64)

// random returns the ith random number of a host, in [0, 1).
type random func(i int) float64

// ParseLatency reads a distribution:
//
//	none                                        no delay
//	hang                                        no answer, ever
//	fixed:50ms
//	uniform:10ms-200ms
//	lognormal:median=80ms,sigma=0.8             sigma of the logarithm
//	mix:0.95=uniform:1ms-200ms,0.05=hang        weights add up to 1
func ParseLatency(dist string, seed uint64) (*Latency, error) {
	draw, err := parseDist(dist)
	if err != nil {
		return nil, fmt.Errorf("latency %q: %w", dist, err)
	}
	return &Latency{draw, seed}, nil
}

func (l *Latency) of(host string) time.Duration {
	if l == nil {
		return 0
	}
	base := hash(l.seed, host)
	return l.draw(func(i int) float64 { return unit(mix(base + uint64(i))) })
}

func parseDist(dist string) (func(random) time.Duration, error) {
	kind, args, _ := strings.Cut(dist, ":")
	switch kind {
	case "none":
		return always(0), nil
	case "hang":
		return always(forever), nil
	case "fixed":
		d, err := parseDuration(args)
		return always(d), err
	case "uniform":
		low, high, found := strings.Cut(args, "-")
		if !found {
			return nil, errors.New("want uniform:SHORTEST-LONGEST, as in uniform:10ms-200ms")
		}
		a, errA := parseDuration(low)
		b, errB := parseDuration(high)
		if err := errors.Join(errA, errB); err != nil {
			return nil, err
		}
		if b < a {
			return nil, errors.New("the longest delay is shorter than the shortest")
		}
		return func(r random) time.Duration { return a + time.Duration(r(0)*float64(b-a)) }, nil
	case "lognormal":
		return parseLognormal(args)
	case "mix":
		return parseMix(args)
	}
	return nil, errors.New("want none, hang, fixed:D, uniform:A-B, lognormal:median=D,sigma=S or mix:W=DIST,…")
}

func always(d time.Duration) func(random) time.Duration {
	return func(random) time.Duration { return d }
}

func parseLognormal(args string) (func(random) time.Duration, error) {
	var median time.Duration
	sigma := -1.0
	for part := range strings.SplitSeq(args, ",") {
		key, value, _ := strings.Cut(part, "=")
		var err error
		switch key {
		case "median":
			median, err = parseDuration(value)
		case "sigma":
			sigma, err = strconv.ParseFloat(value, 64)
		default:
			err = fmt.Errorf("unknown part %q", part)
		}
		if err != nil {
			return nil, err
		}
	}
	if median <= 0 || !(sigma >= 0) {
		return nil, errors.New("want lognormal:median=DURATION,sigma=NUMBER, as in lognormal:median=80ms,sigma=0.8")
	}
	return func(r random) time.Duration {
		normal := math.Sqrt(-2*math.Log(1-r(0))) * math.Cos(2*math.Pi*r(1))
		return time.Duration(min(float64(median)*math.Exp(sigma*normal), float64(24*time.Hour)))
	}, nil
}

func parseMix(args string) (func(random) time.Duration, error) {
	// A part that begins with a number starts a component. Any other part
	// continues the component before it, whose arguments contain commas.
	type component struct {
		upTo float64
		dist string
		draw func(random) time.Duration
	}
	var parts []component
	total := 0.0
	for part := range strings.SplitSeq(args, ",") {
		key, dist, _ := strings.Cut(part, "=")
		weight, err := strconv.ParseFloat(key, 64)
		if err == nil && weight >= 0 {
			total += weight
			parts = append(parts, component{upTo: total, dist: dist})
		} else if len(parts) > 0 {
			parts[len(parts)-1].dist += "," + part
		} else {
			return nil, errors.New("want mix:WEIGHT=DISTRIBUTION,WEIGHT=DISTRIBUTION…")
		}
	}
	if math.Abs(total-1) > 1e-9 {
		return nil, fmt.Errorf("the weights add up to %g, not to 1", total)
	}
	for i := range parts {
		draw, err := parseDist(parts[i].dist)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", parts[i].dist, err)
		}
		parts[i].draw = draw
	}
	return func(r random) time.Duration {
		u := r(0)
		inner := func(i int) float64 { return r(i + 1) }
		for _, p := range parts {
			if u < p.upTo {
				return p.draw(inner)
			}
		}
		return parts[len(parts)-1].draw(inner)
	}, nil
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration such as 80ms or 2s", s)
	}
	return d, nil
}

// hash returns a uniform hash of name: FNV-1a, whose weak low bits mix repairs.
func hash(seed uint64, name string) uint64 {
	h := uint64(0xcbf29ce484222325) ^ mix(seed)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 0x100000001b3
	}
	return mix(h)
}

// mix is one step of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }
