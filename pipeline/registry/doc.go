// Package registry reads the lists that say for whom and for what a census asks: agents
// ([ParseAgents], [BuiltIn]), URL samples ([EachSample]), further identities ([ParseIdentities]), labels
// of preferences ([ParseUses]), templates ([ParseTemplates]) and marks of walls
// ([ParseChallenges]). All are text that a user wrote, so each error names its line.
//
// An agent is a [schema.Agent] everywhere: as the list has it, as the table agents of a run
// has it, and as figures label it. [Robots] makes of it what package robots needs to find its
// group.
package registry
