-- Which agents hosts ask for a crawl-delay, and how long it is.
-- Base: hosts (all of the last complete run) and files (of these, the hosts whose rules decide). asking counts the hosts
-- with a numeric delay in the group that the agent follows; by_name those of them where the group names the agent. p10,
-- median, p90 and longest are in seconds.
SELECT agent, count(crawl_delay) AS asking, count(crawl_delay) FILTER (is_explicit) AS by_name,
  count(*) AS hosts, round(100 * asking / hosts, 1) AS percent_of_hosts,
  count(*) FILTER (outcome = 'conditional_allow' AND class <> 'unknown') AS files, round(100 * asking / files, 1) AS percent_of_files,
  quantile_disc(crawl_delay, 0.1) AS p10, quantile_disc(crawl_delay, 0.5) AS median, quantile_disc(crawl_delay, 0.9) AS p90, max(crawl_delay) AS longest
FROM policies_resolved
GROUP BY agent ORDER BY asking DESC, by_name DESC, agent LIMIT 10
