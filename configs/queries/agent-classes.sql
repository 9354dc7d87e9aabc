-- What agents may fetch, by meaning: the agents that are kept out of most.
-- Denominator: the hosts of the last run whose policy is known (known), that is all but outages and redirects into the
-- dark; a host without a robots.txt counts as open. After the tables of all, some and none of Longpre et al. 2024, and of
-- disallow-all, allow-part and allow-all of Common Crawl's robotstxt-experiments, whose denominators are the sites that
-- have a file; divide by in_file for theirs.
SELECT agent, category,
  count(*) FILTER (class = 'disallow_all') AS disallow_all,
  count(*) FILTER (class = 'partial') AS partial,
  count(*) FILTER (class = 'allow_all') AS allow_all,
  count(*) AS known,
  count(*) FILTER (outcome = 'conditional_allow') AS in_file,
  round(100 * count(*) FILTER (class = 'disallow_all') / count(*), 1) AS closed_percent
FROM policies_resolved
WHERE run = (FROM last_run) AND profile = 'google' AND class <> 'unknown'
GROUP BY ALL ORDER BY disallow_all DESC, partial DESC, agent LIMIT 15
