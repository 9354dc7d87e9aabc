-- Which agents robots.txt files name, by top-k of the ranks: the first eight of each.
-- Base: hosts (all of the last complete run with a rank up to k) and files (of these, the hosts whose rules decide). naming
-- counts the hosts that name the agent, with rules or without; (any) those that name at least one. Names are as written,
-- in lower case. After the table robotstxt-user-agents-topk of Common Crawl's robotstxt-experiments, whose shares are of k.
WITH asked AS (
  SELECT k, f.* FROM fetches_resolved f JOIN (SELECT unnest([1000, 10000, 100000, 1000000]) AS k) ON f.rank <= k
),
bases AS (
  SELECT k, count(*) AS hosts, count(*) FILTER (rules_decide(outcome, challenge)) AS files FROM asked GROUP BY k
),
named AS (
  SELECT DISTINCT k, a.seq, unnest(list_append(list_transform(g.agents, n -> lower(n)), '(any)')) AS agent
  FROM asked a JOIN groups g ON g.run = a.run AND g.seq = a.content_seq
)
SELECT k AS top, agent, count(*) AS naming, hosts, round(100 * naming / hosts, 1) AS percent_of_hosts,
  files, round(100 * naming / files, 1) AS percent_of_files
FROM named JOIN bases USING (k)
GROUP BY k, agent, hosts, files
QUALIFY row_number() OVER (PARTITION BY k ORDER BY naming DESC, agent) <= 8
ORDER BY k, naming DESC, agent
