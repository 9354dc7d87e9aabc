-- How large files are: quantiles, by top-k of the ranks.
-- Base: files (the hosts of the last complete run with a rank up to k whose rules decide). Bytes are those of the decoded
-- body, up to the limit of the profile (google: 512,000); over_limit counts longer files. An empty file counts and has no
-- line.
SELECT k AS top, measure, count(*) AS files,
  quantile_disc(n, 0.1)::INT AS p10, quantile_disc(n, 0.5)::INT AS median, quantile_disc(n, 0.9)::INT AS p90,
  quantile_disc(n, 0.99)::INT AS p99, max(n)::INT AS most, round(avg(n), 1) AS mean, count(*) FILTER (body_truncated) AS over_limit
FROM (
  UNPIVOT (
    SELECT rank, body_truncated, body_bytes AS bytes, lines::BIGINT AS lines, groups::BIGINT AS groups, rules::BIGINT AS rules, sitemaps::BIGINT AS sitemaps
    FROM fetches_resolved WHERE rules_decide(outcome, challenge)
  ) ON bytes, lines, groups, rules, sitemaps INTO NAME measure VALUE n
) JOIN (SELECT unnest([1000, 10000, 100000, 1000000]) AS k) ON rank <= k
GROUP BY k, measure ORDER BY k, list_position(['bytes', 'lines', 'groups', 'rules', 'sitemaps'], measure)
