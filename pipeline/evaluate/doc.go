// Package evaluate turns captures into rows: it parses and judges each target's
// answer under every profile, for the agents and URLs of a run.
package evaluate
