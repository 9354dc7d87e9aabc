-- What the robots.txt of sites answers, by top-k of the ranks.
-- Base: of_hosts (the hosts of the last complete run with a rank up to k). 401 counts as open. After the table
-- robotstxt-status-counts-topk of Common Crawl's robotstxt-experiments, whose shares are of k, with the best capture of
-- each host: its hosts without a capture include hosts that were never requested. Stored bodies have no status, and a
-- class of their answers says so.
WITH answers AS (
  SELECT rank, CASE
      WHEN source = 'body' AND status IS NULL THEN '9 a file whose status is not known'
      WHEN status = 200 AND coalesce(lower(trim(split_part(content_type, ';', 1))), '') NOT IN ('text/x-robots', 'text/plain',
        'message/rfc822', 'text/text', 'text/txt', 'text', 'plain/text', 'text/pain', 'text/plan') THEN '3 not a robots.txt by its type'
      WHEN status = 200 AND coalesce(rules, 0) = 0 THEN '2 without rules'
      WHEN status = 200 THEN '1 with rules'
      WHEN status = 403 THEN '5 forbidden'
      WHEN status = 429 OR status BETWEEN 500 AND 599 THEN '6 defer visits'
      WHEN status BETWEEN 300 AND 399 THEN '7 redirect not resolved'
      WHEN status IS NOT NULL THEN '4 allow all'
      ELSE '8 no answer'
    END AS class
  FROM fetches_resolved WHERE rank IS NOT NULL
),
strata AS (SELECT unnest([1000, 10000, 100000, 1000000]) AS k)
SELECT k AS top, class[3:] AS answer, count(*) AS hosts, of_hosts, round(100 * hosts / of_hosts, 1) AS percent_of_hosts
FROM answers JOIN strata ON rank <= k JOIN (SELECT k, count(*) AS of_hosts FROM answers JOIN strata ON rank <= k GROUP BY k) USING (k)
GROUP BY k, class, of_hosts ORDER BY k, class
