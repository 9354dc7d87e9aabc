-- What the robots.txt of sites answers, by top-k of the ranks.
-- Denominator: the hosts of the last run with a rank up to k (asked). After the table robotstxt-status-counts-topk of
-- Common Crawl's robotstxt-experiments, whose denominator is k itself: hosts that were not asked are among its hosts
-- without a capture. One row per host, the best of its captures on any scheme and port; 401 counts as open, as there.
WITH answers AS (
  SELECT host, rank, CASE
      WHEN status = 200 AND coalesce(lower(trim(split_part(content_type, ';', 1))), '') NOT IN ('text/x-robots', 'text/plain',
        'message/rfc822', 'text/text', 'text/txt', 'text', 'plain/text', 'text/pain', 'text/plan') THEN '3 not a robots.txt by its type'
      WHEN status = 200 AND rules = 0 THEN '2 without rules'
      WHEN status = 200 THEN '1 with rules'
      WHEN status = 403 THEN '5 forbidden'
      WHEN status = 429 OR status BETWEEN 500 AND 599 THEN '6 defer visits'
      WHEN status BETWEEN 300 AND 399 THEN '7 redirect not resolved'
      WHEN status IS NOT NULL THEN '4 allow all'
      ELSE '8 no answer'
    END AS class
  FROM fetches_resolved WHERE run = (FROM last_run) AND rank IS NOT NULL
),
hosts AS (SELECT host, min(rank) AS rank, min(class) AS class FROM answers GROUP BY host),
strata AS (SELECT unnest([1000, 10000, 100000, 1000000]) AS k)
SELECT k AS top, class[3:] AS answer, count(*) AS hosts, asked, round(100 * count(*) / asked, 1) AS percent
FROM hosts JOIN strata ON rank <= k JOIN (SELECT k, count(*) AS asked FROM hosts JOIN strata ON rank <= k GROUP BY k) USING (k)
GROUP BY k, class, asked ORDER BY k, class
