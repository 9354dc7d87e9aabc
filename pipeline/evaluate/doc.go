// Package evaluate turns captures into rows. It parses each capture's body and
// judges it under every profile, for the agents and URL samples of a run.
//
// [Shared] holds what the evaluators of a run share; each [Evaluator] serves one
// goroutine. Three shortcuts keep the work small, and change no row: bodies that
// occur often are parsed once (contents), agents with the same rules are judged
// once per target (memo), and an origin's own URLs are prepared in batches.
package evaluate
