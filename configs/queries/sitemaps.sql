-- How files tell of sitemaps, by top-k of the ranks.
-- Denominator: the hosts of the last run that have a file and a rank up to k (files). with_sitemap have such a line;
-- lines are all of them. relative is a line without a full URL, which the documents want; other_host are full URLs of
-- another host than the file's.
WITH hosts AS (
  SELECT f.host, f.rank, count(s.line) AS lines, count(s.line) FILTER (NOT s.is_absolute) AS relative,
    count(s.line) FILTER (s.is_absolute AND NOT s.is_same_host) AS other_host
  FROM fetches_resolved f LEFT JOIN sitemaps s ON s.run = f.run AND s.seq = f.content_seq
  WHERE f.run = (FROM last_run) AND f.content_digest IS NOT NULL
  GROUP BY f.seq, f.host, f.rank
)
SELECT k AS top, count(*) AS files, count(*) FILTER (lines > 0) AS with_sitemap,
  round(100 * count(*) FILTER (lines > 0) / count(*), 1) AS percent, sum(lines)::INT AS lines, max(lines)::INT AS most,
  count(*) FILTER (relative > 0) AS with_relative, count(*) FILTER (other_host > 0) AS with_other_host
FROM hosts JOIN (SELECT unnest([1000, 10000, 100000, 1000000]) AS k) ON rank <= k
GROUP BY k ORDER BY k
