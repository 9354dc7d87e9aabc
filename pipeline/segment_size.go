//go:build !smallsegments

package pipeline

// pieceTargets is the size of a piece: large enough for full row groups of verdicts,
// small enough that two evaluators share the work and a few of them fit into memory.
const pieceTargets = 2048

// segmentsOfASize is how many segments of a volume have as many pieces before the next
// have twice as many.
const segmentsOfASize = 8
