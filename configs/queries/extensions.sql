-- Which fields files have beyond the four of the documents: extensions that are known, and the others that are frequent.
-- Denominator: the hosts of the last run that have a file and no web page (files). A field counts by its name, but for case; known says
-- whether anyone defines it. After the counts of directives of Common Crawl's robotstxt_statistics.py.
WITH files AS (SELECT host, content_seq AS seq FROM fetches_resolved WHERE run = (FROM last_run) AND content_digest IS NOT NULL AND NOT is_html),
fields AS (
  SELECT seq, lower(field) AS field, line, true AS known FROM signals WHERE run = (FROM last_run)
  UNION -- a line has several signals, and a remark where its value has not their format
  SELECT seq, lower(field), line, class = 'extension' FROM lines
  WHERE run = (FROM last_run) AND class IN ('extension', 'unknown_field')
)
SELECT field, known, count(DISTINCT host) AS hosts, (SELECT count(*) FROM files) AS files,
  round(100 * count(DISTINCT host) / (SELECT count(*) FROM files), 1) AS percent, count(*) AS lines
FROM fields JOIN files USING (seq)
GROUP BY ALL ORDER BY hosts DESC, lines DESC, field LIMIT 15
