-- How many lines address nobody: names that files carry and for which no page of an operator was found, as the registry
-- lists them (kind named_only).
-- Base: hosts (all of the last complete run) and files (of these, the hosts whose rules decide). named counts the hosts whose
-- file has a group for the name, lines the user-agent lines with it.
WITH asked AS (
  SELECT content_seq AS seq, rules_decide(outcome, challenge) AS by_file FROM fetches_resolved
),
dead AS (
  SELECT DISTINCT key AS name FROM summary WHERE metric = 'dead_name' AND key <> 'any'
),
counted AS (
  SELECT name, sum(targets)::BIGINT AS named, sum(targets * lines)::BIGINT AS lines
  FROM (SELECT seq, name, count(*) AS lines FROM (SELECT seq, unnest(tokens) AS token FROM groups) JOIN dead ON token = lower(name) GROUP BY ALL)
  JOIN (SELECT seq, count(*) AS targets FROM asked WHERE by_file GROUP BY seq) USING (seq) -- several captures may lead to one file
  GROUP BY name
)
SELECT name, named, lines, hosts, round(100 * named / hosts, 1) AS percent_of_hosts, files, round(100 * named / files, 1) AS percent_of_files
FROM counted, (SELECT count(*) AS hosts, count(*) FILTER (by_file) AS files FROM asked)
ORDER BY named DESC, lines DESC, name LIMIT 20
