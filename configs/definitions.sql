
-- The lines of a file that the studies below read as directives, in order. They require a correctly spelt field and a
-- colon after it. spaced marks a line with white space before the colon.
CREATE OR REPLACE VIEW directives AS
  WITH odd AS (
    SELECT run, seq, line, bool_or(class <> 'spaced_colon') AS misspelt, bool_or(class = 'spaced_colon') AS spaced
    FROM lines WHERE class IN ('typo', 'key_prefix', 'missing_colon', 'spaced_colon') GROUP BY ALL
  )
  SELECT run, seq, line, field, value, coalesce(spaced, false) AS spaced
  FROM (
    SELECT run, seq, unnest(agent_lines) AS line, 'user-agent' AS field, unnest(agents) AS value FROM groups
    UNION ALL SELECT run, seq, line, kind, pattern FROM rules
    UNION ALL SELECT run, seq, line, 'sitemap', url FROM sitemaps
    UNION ALL SELECT run, seq, line, 'crawl-delay', value FROM lines WHERE class = 'extension' AND lower(field) = 'crawl-delay'
  ) LEFT JOIN odd USING (run, seq, line)
  WHERE NOT coalesce(misspelt, false);

-- How two studies classify the agents that a file names, a row per file and name as written:
--
--   cc       Common Crawl's robotstxt-experiments (robotstxt_statistics.py, metrics-top-k-sample.ipynb; 2025). The class
--            depends on the literal rules of a name: disallow-all is one Disallow: / and nothing else; allow-all is one
--            Disallow: without a path, or one Allow: with nothing, /, * or /*; the rest is allow-part. A name without a
--            rule has no class. Names that differ in case are different names. Only files with status 200 and a plain text
--            type count, so stored bodies (--bodies), for which neither is known, have no rows of cc.
--   longpre  Longpre et al., Consent in Crisis, 2024 (parse_robots.py of the Data Provenance Collection). Rules with a ?
--            are ignored. none is a name without a disallow, with only an empty Disallow:, or whose allows equal its
--            disallows; all has Disallow: / and no allow; the rest is some. A line with white space before the colon, or
--            with a byte order mark, is ignored. Names that differ in case are one, in the spelling that comes first.
--
-- Both lose agents that share a group other than the file's first: after the first line that ends a list of agents (cc: a
-- rule; longpre: a rule, crawl-delay or sitemap), every agent line begins a new group, so the agent before it keeps no
-- rules. published is the class with this error. In mended, only an agent line after such a line begins a group; all else
-- is as published.
--
-- Versions of parse_robots.py differ in how agents share a group; this follows the latest known. The views require google
-- as the run's first profile. They do not reproduce what the tables do not hold: that cc reads on after a bare CR, what a
-- NUL or white space beyond ASCII does to a value, a web page that begins with a comment, and text beyond the size limit.
CREATE OR REPLACE VIEW named_classes AS
  WITH files AS (
    SELECT run, seq, has_bom, status = 200 AND content_digest IS NOT NULL AND NOT is_html
      AND lower(trim(split_part(content_type, ';', 1))) IN ('text/x-robots', 'text/plain', 'message/rfc822', 'text/text',
        'text/txt', 'text', 'plain/text', 'text/pain', 'text/plan') AS is_text
    FROM fetches
  ),
  taken AS (
    SELECT study, d.*
    FROM directives d JOIN files USING (run, seq) CROSS JOIN (VALUES ('cc'), ('longpre')) studies(study)
    WHERE CASE study
      WHEN 'cc' THEN is_text AND field IN ('user-agent', 'allow', 'disallow')
      ELSE NOT spaced AND NOT (has_bom AND line = 1) END
  ),
  marked AS (
    SELECT *, field = 'user-agent' AS is_agent,
      bool_or(field <> 'user-agent') OVER (file ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS any_before,
      lag(field <> 'user-agent') OVER file AS just_before
    FROM taken WINDOW file AS (PARTITION BY study, run, seq ORDER BY line)
  ),
  numbered AS (
    SELECT *,
      count(*) FILTER (is_agent AND any_before) OVER file AS published,
      count(*) FILTER (is_agent AND just_before) OVER file AS mended
    FROM marked WINDOW file AS (PARTITION BY study, run, seq ORDER BY line)
  ),
  -- Sum the rules before unnesting the readings, because there are many rules.
  added AS (
    SELECT study, run, seq, published, mended, min(line) AS line,
      count(*) FILTER (field = 'disallow') AS disallows,
      count(*) FILTER (field = 'allow') AS allows,
      count(*) FILTER (field = 'disallow' AND value = '/') AS closing,
      count(*) FILTER (field = 'disallow' AND value = '') AS opening,
      count(*) FILTER (field = 'allow' AND value IN ('', '/', '*', '/*')) AS allowing,
      list(hash(value) ORDER BY line) FILTER (field = 'disallow') AS disallowed,
      list(hash(value) ORDER BY line) FILTER (field = 'allow') AS allowed
    FROM numbered WHERE field IN ('allow', 'disallow') AND (study = 'cc' OR NOT contains(value, '?'))
    GROUP BY study, run, seq, published, mended
  ),
  blocks AS (
    SELECT *, unnest(['published', 'mended']) AS reading, unnest([published, mended]) AS block FROM added
  ),
  agents AS (
    SELECT *, CASE study WHEN 'cc' THEN value ELSE lower(value) END AS key,
      unnest(['published', 'mended']) AS reading, unnest([published, mended]) AS block
    FROM numbered WHERE field = 'user-agent'
  ),
  names AS (
    SELECT study, run, seq, reading, block, key, min_by(value, line) AS name, min(line) AS line,
      CASE study WHEN 'cc' THEN 1 ELSE count(*) END AS times
    FROM agents GROUP BY study, run, seq, reading, block, key
  ),
  -- times: longpre gives an agent that is listed twice each rule twice, so an empty Disallow: is no longer the only one.
  sets AS (
    SELECT study, run, seq, reading, key, min_by(name, n.line) AS name, count(b.block) AS blocks,
      coalesce(sum(times * disallows), 0) AS disallows, coalesce(sum(times * allows), 0) AS allows,
      coalesce(sum(times * closing), 0) AS closing, coalesce(sum(times * opening), 0) AS opening,
      coalesce(sum(times * allowing), 0) AS allowing,
      flatten(list(disallowed ORDER BY b.line) FILTER (disallowed IS NOT NULL)) =
        flatten(list(allowed ORDER BY b.line) FILTER (allowed IS NOT NULL)) AS same
    FROM names n LEFT JOIN blocks b USING (study, run, seq, reading, block)
    GROUP BY study, run, seq, reading, key
  ),
  classed AS (
    SELECT *, CASE
      WHEN study = 'cc' THEN CASE
        WHEN blocks = 0 THEN NULL
        WHEN disallows = 1 AND allows = 0 AND closing = 1 THEN 'disallow-all'
        WHEN disallows = 1 AND allows = 0 AND opening = 1 THEN 'allow-all'
        WHEN disallows = 0 AND allows = 1 AND allowing = 1 THEN 'allow-all'
        ELSE 'allow-part' END
      WHEN disallows = 0 OR disallows = 1 AND opening = 1 OR same THEN 'none'
      WHEN closing > 0 AND allows = 0 THEN 'all'
      ELSE 'some' END AS class
    FROM sets
  )
  SELECT run, seq, study, any_value(name) AS name,
    any_value(class) FILTER (reading = 'published') AS published,
    any_value(class) FILTER (reading = 'mended') AS mended
  FROM classed GROUP BY run, seq, study, key;

-- Each policy under five definitions: class is ours, by meaning; the others are those of named_classes, for the agent's
-- name or, if the file does not name it, for *. cc is null if the file names neither, or if cc does not count the file; if
-- the classes of two spellings differ, it is the most closed. longpre is none if the file names neither, and no_robots
-- without a file, or behind a wall. cc requires status 200: if status is null, as with --bodies, the class under cc is unknown.
CREATE OR REPLACE VIEW classifications AS
  WITH named AS (FROM named_classes),
  cc AS (
    -- The names of the classes sort from open to closed.
    SELECT run, seq, lower(name) AS name, max(published) AS published, max(mended) AS mended
    FROM named WHERE study = 'cc' GROUP BY ALL
  ),
  longpre AS (FROM named WHERE study = 'longpre')
  SELECT p.run, p.seq, p.host, p.rank, p.agent, p.category, p.profile, p.is_explicit, p.outcome, p.class, f.status,
    coalesce(c.published, cstar.published) AS class_cc_published,
    coalesce(c.mended, cstar.mended) AS class_cc_mended,
    CASE WHEN f.content_digest IS NULL THEN 'no_robots' ELSE coalesce(l.published, lstar.published, 'none') END AS class_longpre_published,
    CASE WHEN f.content_digest IS NULL THEN 'no_robots' ELSE coalesce(l.mended, lstar.mended, 'none') END AS class_longpre_mended
  FROM policies p
  JOIN (SELECT run, seq, status, CASE WHEN challenge IS NULL THEN content_digest END AS content_digest FROM fetches) f USING (run, seq)
  LEFT JOIN cc c ON c.run = p.run AND c.seq = p.seq AND c.name = lower(p.agent)
  LEFT JOIN cc cstar ON cstar.run = p.run AND cstar.seq = p.seq AND cstar.name = '*'
  LEFT JOIN longpre l ON l.run = p.run AND l.seq = p.seq AND l.name = p.agent
  LEFT JOIN longpre lstar ON lstar.run = p.run AND lstar.seq = p.seq AND lstar.name = '*';
