-- Whom crawl-delay is asked of, and for how long.
-- Denominator: the hosts of the last run that have a file (files). hosts have a delay for the agent, a number, in its own
-- group or in that for all; seconds are their quantiles. named have it in a group of the agent's own.
SELECT agent, count(crawl_delay) AS hosts, count(*) AS files, round(100 * count(crawl_delay) / count(*), 1) AS percent,
  count(crawl_delay) FILTER (is_explicit) AS named,
  quantile_disc(crawl_delay, 0.1) AS p10, quantile_disc(crawl_delay, 0.5) AS median, quantile_disc(crawl_delay, 0.9) AS p90, max(crawl_delay) AS longest
FROM policies_resolved
WHERE run = (FROM last_run) AND profile = 'google' AND outcome = 'conditional_allow'
GROUP BY agent ORDER BY hosts DESC, named DESC, agent LIMIT 10
