-- Which hosts close to agents by name, and which by the group for all: closed agents, by the origin of their group.
-- Base: hosts (all of the last complete run) and files (of these, the hosts whose rules decide). closed_by_name counts
-- the hosts that close by a group that names the agent, closed_by_fallback by the group of a crawler that the agent
-- follows, closed_by_star by *; the shares count all three. opened counts the hosts that close * and let the agent in by a
-- group that names it. After the columns disallow-all and *-disallow-all of Common Crawl's robotstxt-experiments: by name,
-- and by name or inherited from *.
WITH stars AS (
  SELECT run, seq, bool_or(class = 'disallow_all') AS closed
  FROM groups WHERE list_contains(tokens, '*') GROUP BY run, seq
)
SELECT p.agent, p.category,
  count(*) FILTER (p.class = 'disallow_all' AND p.match = 'own') AS closed_by_name,
  count(*) FILTER (p.class = 'disallow_all' AND p.match = 'fallback') AS closed_by_fallback,
  count(*) FILTER (p.class = 'disallow_all' AND p.match = 'star') AS closed_by_star,
  count(*) FILTER (s.closed AND p.match = 'own' AND p.class <> 'disallow_all') AS opened,
  count(*) FILTER (p.match = 'own') AS named,
  count(*) AS hosts,
  round(100 * count(*) FILTER (p.class = 'disallow_all') / hosts, 1) AS percent_of_hosts,
  count(*) FILTER (p.outcome = 'conditional_allow' AND p.class <> 'unknown') AS files,
  round(100 * count(*) FILTER (p.class = 'disallow_all') / files, 1) AS percent_of_files
FROM policies_resolved p
JOIN fetches_resolved f USING (run, seq)
LEFT JOIN stars s ON s.run = f.run AND s.seq = f.content_seq
GROUP BY p.agent, p.category
ORDER BY count(*) FILTER (p.class = 'disallow_all') DESC, closed_by_name DESC, agent LIMIT 15
