-- Who shuts agents out by name, and who by the group for all: closed agents, by where their group comes from.
-- Denominator: the hosts of the last run that have a file (files). After the columns disallow-all and *-disallow-all of
-- Common Crawl's robotstxt-experiments: by its own name, and that or inherited from *.
-- opened are the hosts that close * and let the agent in by a group of its own.
WITH stars AS (
  SELECT run, seq, bool_or(class = 'disallow_all') AS closed
  FROM groups WHERE list_contains(tokens, '*') GROUP BY run, seq
)
SELECT p.agent, p.category,
  count(*) FILTER (p.class = 'disallow_all' AND p.is_explicit) AS closed_by_name,
  count(*) FILTER (p.class = 'disallow_all' AND NOT p.is_explicit) AS closed_by_star,
  count(*) FILTER (s.closed AND p.is_explicit AND p.class <> 'disallow_all') AS opened,
  count(*) FILTER (p.is_explicit) AS named,
  count(*) AS files
FROM policies_resolved p
JOIN fetches_resolved f USING (run, seq)
LEFT JOIN stars s ON s.run = f.run AND s.seq = f.content_seq
WHERE p.run = (FROM last_run) AND p.profile = 'google' AND p.outcome = 'conditional_allow'
GROUP BY ALL ORDER BY closed_by_name + closed_by_star DESC, closed_by_name DESC, agent LIMIT 15
