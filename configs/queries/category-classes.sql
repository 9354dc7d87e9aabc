-- What categories of agents may fetch, by meaning.
-- Denominator: pairs of a host of the last run and an agent of the category, whose policy is known (pairs). any_closed
-- counts the hosts that keep out at least one agent of the category, of all hosts (hosts). After the comparisons of
-- Longpre et al. 2024 between operators and purposes.
SELECT category, count(DISTINCT agent) AS agents, count(*) AS pairs,
  round(100 * avg((class = 'disallow_all')::INT), 1) AS closed_percent,
  round(100 * avg((class = 'partial')::INT), 1) AS partial_percent,
  round(100 * avg((class = 'allow_all')::INT), 1) AS open_percent,
  count(DISTINCT seq) FILTER (class = 'disallow_all') AS any_closed,
  count(DISTINCT seq) AS hosts
FROM policies_resolved
WHERE run = (FROM last_run) AND profile = 'google' AND class <> 'unknown'
GROUP BY category ORDER BY closed_percent DESC, category
