
-- The last capture of each origin in each run. fetches keeps all captures of an origin.
CREATE OR REPLACE VIEW fetches_latest AS
  SELECT fetches.* FROM fetches SEMI JOIN (
    SELECT run, max_by(seq, {'time': fetch_time, 'seq': seq}) AS seq FROM fetches GROUP BY run, origin
  ) USING (run, seq);

-- The targets of redirects that stored captures leave open (redirect_unresolved), a row each. The target is the last
-- capture of the URL in the same run; at most five hops are followed, to any host (RFC 9309, 2.3.1.2). content_seq is the capture at
-- the end of the chain. If it is null, reason is redirect_loop or redirect_limit, which count as 404, or still
-- redirect_unresolved because the target was not captured. Five joins in place of a recursion, because DuckDB would take a
-- recursive CTE for the larger side of a join and hold the other side in memory.
CREATE OR REPLACE VIEW redirects AS
  WITH open AS (
    SELECT run, seq, host, rank, origin, robots_url, hops[1] AS hop, canonical_url(hops[-1].url) AS target
    FROM fetches WHERE reason = 'redirect_unresolved'
  ),
  captures AS (
    SELECT run, url, max_by(seq, {'exact': exact, 'time': fetch_time, 'seq': seq}) AS seq
    FROM (
      SELECT run, robots_url AS url, true AS exact, fetch_time, seq FROM fetches
      UNION ALL
      SELECT run, canonical_url(final_url), false, fetch_time, seq FROM fetches WHERE final_url <> robots_url
    ) SEMI JOIN (SELECT run, target AS url FROM open) USING (run, url)
    GROUP BY run, url
  ),
  step AS (
    SELECT c.run, c.url, o.target, o.hop, CASE WHEN o.seq IS NULL THEN c.seq END AS found
    FROM captures c LEFT JOIN open o ON o.run = c.run AND o.seq = c.seq
  ),
  chain AS (
    SELECT o.run, o.seq, o.host, o.rank, o.origin, coalesce(a.found, b.found, c.found, d.found, e.found) AS content_seq,
      list_filter([o.hop, a.hop, b.hop, c.hop, d.hop, e.hop], h -> h IS NOT NULL) AS hops,
      list_filter([o.robots_url, o.target, a.target, b.target, c.target, d.target, e.target], u -> u IS NOT NULL) AS visited
    FROM open o
    LEFT JOIN step a ON a.run = o.run AND a.url = o.target
    LEFT JOIN step b ON b.run = o.run AND b.url = a.target
    LEFT JOIN step c ON c.run = o.run AND c.url = b.target
    LEFT JOIN step d ON d.run = o.run AND d.url = c.target
    LEFT JOIN step e ON e.run = o.run AND e.url = d.target
  )
  SELECT run, seq, host, rank, origin, content_seq,
    CASE
      WHEN content_seq IS NOT NULL THEN NULL
      WHEN list_unique(visited) < len(visited) THEN 'redirect_loop'
      WHEN len(hops) > 5 THEN 'redirect_limit'
      ELSE 'redirect_unresolved'
    END AS reason,
    hops[:list_unique(visited)] AS hops, -- a loop once
    visited[-1] AS target
  FROM chain;

-- fetches with these redirects followed: the origin of the first capture, with the answer at the end of the chain.
-- content_seq is the seq of the groups, rules, sitemaps, lines and signals of the row.
CREATE OR REPLACE VIEW fetches_resolved AS
  WITH followed AS (FROM redirects)
  SELECT *, seq AS content_seq FROM fetches WHERE reason <> 'redirect_unresolved'
  UNION ALL BY NAME
  SELECT t.* REPLACE (
      a.seq AS seq, a.input AS input, a.host AS host, a.rank AS rank, a.origin AS origin, a.scheme AS scheme, a.port AS port,
      a.registered_domain AS registered_domain, a.tld AS tld, a.robots_url AS robots_url, a.source AS source,
      a.fetch_time AS fetch_time, r.hops || t.hops AS hops),
    t.seq AS content_seq
  FROM followed r
  JOIN fetches a ON a.run = r.run AND a.seq = r.seq
  JOIN fetches t ON t.run = r.run AND t.seq = r.content_seq
  UNION ALL BY NAME
  SELECT a.* REPLACE (
      CASE r.reason WHEN 'redirect_unresolved' THEN a.outcome ELSE 'full_allow' END AS outcome, r.reason AS reason,
      r.hops[-1].status AS status,
      CASE r.reason WHEN 'redirect_unresolved' THEN list_append(r.hops, {'url': r.target, 'status': NULL}) ELSE r.hops END AS hops,
      CASE r.reason WHEN 'redirect_unresolved' THEN a.final_url ELSE r.hops[-1].url END AS final_url,
      CASE r.reason WHEN 'redirect_unresolved' THEN a.error_class ELSE r.reason END AS error_class),
    a.seq AS content_seq
  FROM followed r JOIN fetches a ON a.run = r.run AND a.seq = r.seq
  WHERE r.content_seq IS NULL;

CREATE OR REPLACE VIEW policies_resolved AS
  WITH followed AS (FROM redirects)
  SELECT policies.* FROM policies ANTI JOIN followed USING (run, seq)
  UNION ALL BY NAME
  SELECT t.* REPLACE (r.seq AS seq, r.host AS host, r.rank AS rank, r.origin AS origin)
  FROM followed r JOIN policies t ON t.run = r.run AND t.seq = r.content_seq
  UNION ALL BY NAME
  SELECT p.* REPLACE (
    CASE r.reason WHEN 'redirect_unresolved' THEN p.outcome ELSE 'full_allow' END AS outcome,
    CASE r.reason WHEN 'redirect_unresolved' THEN p.class ELSE 'allow_all' END AS class)
  FROM followed r JOIN policies p ON p.run = r.run AND p.seq = r.seq
  WHERE r.content_seq IS NULL;

-- A sample for the first origin only, not for the target's, stays undefined.
CREATE OR REPLACE VIEW verdicts_resolved AS
  WITH followed AS (FROM redirects),
  found AS (
    SELECT DISTINCT v.run, v.seq AS content_seq, v.agent, v.profile, v.url, v.verdict, v.reason, v.group_agent,
      v.rule_kind, v.rule_pattern, v.rule_line
    FROM verdicts v SEMI JOIN followed r ON v.run = r.run AND v.seq = r.content_seq
  )
  SELECT verdicts.* FROM verdicts ANTI JOIN followed USING (run, seq)
  UNION ALL BY NAME
  SELECT v.* REPLACE (
    CASE WHEN r.reason IN ('redirect_loop', 'redirect_limit') THEN 'allow' ELSE coalesce(f.verdict, v.verdict) END AS verdict,
    CASE WHEN r.reason IN ('redirect_loop', 'redirect_limit') THEN 'full_allow' ELSE coalesce(f.reason, v.reason) END AS reason,
    f.group_agent AS group_agent, f.rule_kind AS rule_kind, f.rule_pattern AS rule_pattern, f.rule_line AS rule_line)
  FROM followed r
  JOIN verdicts v ON v.run = r.run AND v.seq = r.seq
  LEFT JOIN found f ON f.run = r.run AND f.content_seq = r.content_seq AND f.agent = v.agent AND f.profile = v.profile AND f.url = v.url;
