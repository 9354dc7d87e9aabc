-- Which fields files have beyond the four of the documents: known extensions, and other frequent fields.
-- Base: hosts (all of the last complete run) and files (of these, the hosts whose rules decide). with_field counts the
-- hosts whose file is not a web page and has the field, lines all such lines. Names of fields are compared without case;
-- known is true for a field with a published definition. After the counts of directives in Common Crawl's
-- robotstxt_statistics.py.
WITH asked AS (
  SELECT content_seq AS seq, is_html, rules_decide(outcome, challenge) AS by_file FROM fetches_resolved
),
fields AS (
  SELECT seq, lower(field) AS field, line, true AS known FROM signals
  UNION -- a line may have several signals, or an entry in lines if its value does not have their format
  SELECT seq, lower(field), line, class = 'extension' FROM lines WHERE class IN ('extension', 'unknown_field')
),
counted AS (
  SELECT field, known, sum(targets)::BIGINT AS with_field, sum(targets * lines)::BIGINT AS lines
  FROM (SELECT seq, field, known, count(*) AS lines FROM fields GROUP BY ALL)
  JOIN (SELECT seq, count(*) AS targets FROM asked WHERE by_file AND NOT is_html GROUP BY seq) USING (seq) -- several captures may lead to one file
  GROUP BY field, known
)
SELECT field, known, with_field, lines, hosts, round(100 * with_field / hosts, 1) AS percent_of_hosts,
  files, round(100 * with_field / files, 1) AS percent_of_files
FROM counted, (SELECT count(*) AS hosts, count(*) FILTER (by_file) AS files FROM asked)
ORDER BY with_field DESC, lines DESC, field LIMIT 15
