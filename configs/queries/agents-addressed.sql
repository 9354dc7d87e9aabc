-- Which agents robots.txt files name, by top-k of the ranks: the first eight of each.
-- Denominator: the hosts of the last run with a rank up to k (asked). After the table robotstxt-user-agents-topk of Common
-- Crawl's robotstxt-experiments, whose denominator is k itself. Names are as written, but for case; (any) is a host that
-- names one at all. A name counts with rules or without.
WITH strata AS (SELECT unnest([1000, 10000, 100000, 1000000]) AS k),
hosts AS (SELECT * FROM fetches_resolved WHERE run = (FROM last_run) AND rank IS NOT NULL),
named AS (
  SELECT DISTINCT h.host, h.rank, unnest(list_append(list_transform(g.agents, a -> lower(a)), '(any)')) AS agent
  FROM hosts h JOIN groups g ON g.run = h.run AND g.seq = h.content_seq
)
SELECT k AS top, agent, count(DISTINCT host) AS hosts, asked, round(100 * count(DISTINCT host) / asked, 1) AS percent
FROM named JOIN strata ON rank <= k JOIN (SELECT k, count(DISTINCT host) AS asked FROM hosts JOIN strata ON rank <= k GROUP BY k) USING (k)
GROUP BY k, agent, asked
QUALIFY row_number() OVER (PARTITION BY k ORDER BY hosts DESC, agent) <= 8
ORDER BY k, hosts DESC, agent
