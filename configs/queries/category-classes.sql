-- How hosts treat the categories of agents, by meaning.
-- Base: hosts (all of the last complete run) and files (of these, the hosts whose rules decide). close_all counts the
-- hosts that close to every agent of the category, close_some those that close to at least one but not to all; the
-- shares count both. After the comparisons between operators and purposes in Longpre et al. 2024.
WITH treatment AS (
  SELECT category, seq, count(*) AS agents, count(*) FILTER (class = 'disallow_all') AS closed,
    bool_or(outcome = 'conditional_allow' AND class <> 'unknown') AS by_file
  FROM policies_resolved GROUP BY category, seq
)
SELECT category, max(agents) AS agents,
  count(*) FILTER (closed = agents) AS close_all,
  count(*) FILTER (closed BETWEEN 1 AND agents - 1) AS close_some,
  count(*) AS hosts,
  round(100 * count(*) FILTER (closed > 0) / count(*), 1) AS percent_of_hosts,
  count(*) FILTER (by_file) AS files,
  round(100 * count(*) FILTER (closed > 0) / count(*) FILTER (by_file), 1) AS percent_of_files
FROM treatment GROUP BY category ORDER BY percent_of_hosts DESC, close_all DESC, category
