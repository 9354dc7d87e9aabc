-- DuckDB views over the tables in this folder, written by robocensus. From this folder:  duckdb -init views.sql
-- They need DuckDB 1.1 or newer.
--
-- A bare name (fetches, policies, ...) is the last complete run and its first profile, so that a second run or profile
-- never doubles a count. changes compares that run with the complete run before it. Runs are ordered by date (--as-of,
-- else the median day of a WARC run's captures, else the start), then by ID. The same names in the schema history
-- (history.fetches, ...) hold all runs and profiles, complete or not, and history.runs lists the complete ones. The views
-- series_policies and so on follow figures over them. Every table has the column run. If a run did not write a table, the
-- view says so when you query it.

CREATE SCHEMA IF NOT EXISTS history;

-- The band of rank in which the table summary counts.
CREATE OR REPLACE MACRO stratum(rank) AS CASE
  WHEN rank IS NULL THEN 'unranked'
  WHEN rank <= 1000 THEN '1-1000'
  WHEN rank <= 10000 THEN '1001-10000'
  WHEN rank <= 100000 THEN '10001-100000'
  WHEN rank <= 1000000 THEN '100001-1000000'
  WHEN rank <= 10000000 THEN '1000001-10000000'
  ELSE '10000001-' END;

-- The place of a band in the order of ranks: as text, 10000001- would come before 1001-10000.
CREATE OR REPLACE MACRO stratum_order(stratum) AS coalesce(try_cast(split_part(stratum, '-', 1) AS BIGINT), 9223372036854775807);

-- Whether a host was read: its answer shows what its robots.txt says now. Behind a wall (challenge) nobody has read it,
-- whatever outcome and reason say, for these are those of the status.
CREATE OR REPLACE MACRO was_read(reason, challenge) AS challenge IS NULL AND reason IN (
  'success', 'client_error', 'unauthorized', 'not_read', 'error_body', 'misconfigured_server', 'redirect_limit', 'redirect_loop', 'redirect_invalid',
  'redirect_unsupported', 'html_redirect');

-- Whether the rules of a file decide: not those of the page of a wall.
CREATE OR REPLACE MACRO rules_decide(outcome, challenge) AS outcome = 'conditional_allow' AND challenge IS NULL;

-- A URL in the form of robots_url: scheme and host in lower case, a path, no user, default port or fragment.
CREATE OR REPLACE MACRO canonical_url(url) AS
  regexp_replace(regexp_replace(
    lower(regexp_extract(url, '^[^:/?#]+://[^/?#]*')),
    '://[^@]*@', '://'),
    '^(?:(http://.*):80|(https://.*):443|(.*?):?)$', '\1\2\3')
  || CASE WHEN url SIMILAR TO '[^:/?#]+://[^/?#]*/.*' THEN '' ELSE '/' END
  || regexp_extract(url, '^[^:/?#]+://[^/?#]*([^#]*)', 1);
