-- How files declare sitemaps, by top-k of the ranks.
-- Base: hosts (all of the last complete run with a rank up to k) and files (of these, the hosts whose rules decide).
-- with_sitemap counts the hosts whose file has a sitemap line, as do the shares; lines counts all such lines, most is the
-- most in one file. with_relative counts the hosts with a line that is not a full URL, which the documents require;
-- with_other_host those with a full URL on a host other than the file's.
WITH asked AS (
  SELECT f.rank, rules_decide(f.outcome, f.challenge) AS by_file, count(s.line) AS lines, count(s.line) FILTER (NOT s.is_absolute) AS relative,
    count(s.line) FILTER (s.is_absolute AND NOT s.is_same_host) AS other_host
  FROM fetches_resolved f LEFT JOIN sitemaps s ON s.run = f.run AND s.seq = f.content_seq
  GROUP BY f.seq, f.rank, by_file
)
SELECT k AS top, count(*) FILTER (lines > 0) AS with_sitemap,
  count(*) AS hosts, round(100 * with_sitemap / hosts, 1) AS percent_of_hosts,
  count(*) FILTER (by_file) AS files, round(100 * with_sitemap / files, 1) AS percent_of_files,
  sum(lines)::BIGINT AS lines, max(lines) AS most,
  count(*) FILTER (relative > 0) AS with_relative, count(*) FILTER (other_host > 0) AS with_other_host
FROM asked JOIN (SELECT unnest([1000, 10000, 100000, 1000000]) AS k) ON rank <= k
GROUP BY k ORDER BY k
