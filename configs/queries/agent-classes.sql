-- What agents may fetch, by meaning: the agents that most hosts close to.
-- Base: hosts (all of the last complete run) and files (of these, the hosts whose rules decide: outcome
-- conditional_allow, and not the page of a wall). closed, in_part, open and unknown count hosts; unknown are those whose rules were not seen: outages,
-- walls, and redirects whose target was not captured. A host without a robots.txt is open. After the tables of all, some and none
-- in Longpre et al. 2024, and of disallow-all, allow-part and allow-all in Common Crawl's robotstxt-experiments, whose
-- shares are of files.
SELECT agent, category,
  count(*) FILTER (class = 'disallow_all') AS closed,
  count(*) FILTER (class = 'partial') AS in_part,
  count(*) FILTER (class = 'allow_all') AS open,
  count(*) FILTER (class = 'unknown') AS unknown,
  count(*) AS hosts,
  round(100 * closed / hosts, 1) AS percent_of_hosts,
  count(*) FILTER (outcome = 'conditional_allow' AND class <> 'unknown') AS files,
  round(100 * closed / files, 1) AS percent_of_files
FROM policies_resolved
GROUP BY agent, category ORDER BY closed DESC, in_part DESC, agent LIMIT 15
