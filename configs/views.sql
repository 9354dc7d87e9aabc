-- DuckDB views over the tables in this folder, written by robocensus. From this folder:  duckdb -init views.sql
--
-- A bare name (fetches, policies, ...) is the last complete run, and of its profiles the first, so that a second run or
-- profile doubles no count. changes compares that run with the complete one before it. Runs follow each other by the time
-- of their start. The same names in the schema history (history.fetches, ...) are all runs and profiles, complete or not.
-- Every table has the column run. A table that was not written says so when it is queried.

CREATE SCHEMA IF NOT EXISTS history;

-- The bands of rank in which the table summary counts.
CREATE OR REPLACE MACRO stratum(rank) AS CASE
  WHEN rank IS NULL THEN 'unranked'
  WHEN rank <= 1000 THEN '1-1000'
  WHEN rank <= 10000 THEN '1001-10000'
  WHEN rank <= 100000 THEN '10001-100000'
  WHEN rank <= 1000000 THEN '100001-1000000'
  WHEN rank <= 10000000 THEN '1000001-10000000'
  ELSE '10000001-' END;

-- A URL as robots_url spells it: scheme and host in lower case, no user, default port or fragment, a path.
CREATE OR REPLACE MACRO canonical_url(url) AS
  regexp_replace(regexp_replace(
    lower(regexp_extract(url, '^[^:/?#]+://[^/?#]*')),
    '://[^@]*@', '://'),
    '^(?:(http://.*):80|(https://.*):443|(.*?):?)$', '\1\2\3')
  || CASE WHEN url SIMILAR TO '[^:/?#]+://[^/?#]*/.*' THEN '' ELSE '/' END
  || regexp_extract(url, '^[^:/?#]+://[^/?#]*([^#]*)', 1);
