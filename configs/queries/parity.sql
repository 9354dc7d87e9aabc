-- Which files mean something else to the parser of a crawler that they name, and why: the crawler's own parser (reads_as in
-- the registry) beside google's reading, on every path but /robots.txt and URLs with needless escapes.
-- Base: files that name a crawler whose parser is documented. let_in counts those that shut the crawler out as google reads
-- them, and not as its own parser does; kept_out those the other way round. A file whose difference has one cause counts
-- under it, exactly; one that it takes several to explain counts under several. The table lines has the lines of each.
WITH causes AS (
  SELECT DISTINCT seq, agent, parser, CASE WHEN causes > 1 THEN 'several' ELSE cause END AS cause
  FROM lines WHERE class = 'not_portable'
),
named AS (
  SELECT agent, sum(count)::BIGINT AS named,
    coalesce(sum(count) FILTER (key = 'let_in'), 0)::BIGINT AS let_in,
    coalesce(sum(count) FILTER (key = 'kept_out'), 0)::BIGINT AS kept_out,
    coalesce(sum(count) FILTER (key = 'undecided'), 0)::BIGINT AS undecided
  FROM summary WHERE metric = 'parity' GROUP BY agent
)
SELECT agent, any_value(named) AS named, any_value(let_in) AS let_in, any_value(kept_out) AS kept_out, any_value(undecided) AS undecided,
  parser, cause, count(*) AS files, round(100 * count(*) / any_value(named), 1) AS percent_of_named
FROM causes JOIN named USING (agent)
GROUP BY agent, parser, cause ORDER BY files DESC, agent, cause LIMIT 20
