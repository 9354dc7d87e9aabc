-- Views over the tables of all runs below this folder, made by robocensus.
-- Use them from this folder:  duckdb -init views.sql
-- Each table has a column run besides those that the README lists.

-- needs: fetches
CREATE OR REPLACE VIEW fetches AS
  SELECT * FROM read_parquet('fetches/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: groups
CREATE OR REPLACE VIEW groups AS
  SELECT * FROM read_parquet('groups/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: rules
CREATE OR REPLACE VIEW rules AS
  SELECT * FROM read_parquet('rules/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: sitemaps
CREATE OR REPLACE VIEW sitemaps AS
  SELECT * FROM read_parquet('sitemaps/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: lines
CREATE OR REPLACE VIEW lines AS
  SELECT * FROM read_parquet('lines/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: signals
CREATE OR REPLACE VIEW signals AS
  SELECT * FROM read_parquet('signals/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: policies
CREATE OR REPLACE VIEW policies AS
  SELECT * FROM read_parquet('policies/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: verdicts
CREATE OR REPLACE VIEW verdicts AS
  SELECT * FROM read_parquet('verdicts/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: summary
CREATE OR REPLACE VIEW summary AS
  SELECT * FROM read_parquet('summary/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: examples
CREATE OR REPLACE VIEW examples AS
  SELECT * FROM read_parquet('examples/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true);

-- needs: bodies
-- A body is stored once in each part that met it.
CREATE OR REPLACE VIEW bodies AS
  SELECT run, content_digest, any_value(body) AS body
  FROM read_parquet('bodies/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR}, union_by_name = true)
  GROUP BY run, content_digest;

-- needs: fetches
-- The run whose name sorts last, which is the newest where names are times. (DuckDB 1.5 fails on SELECT max(run), for it
-- looks for the statistics of a column that no file has.)
CREATE OR REPLACE VIEW last_run AS SELECT run FROM fetches ORDER BY run DESC LIMIT 1;

-- needs: changes
-- What robocensus diff has found: of the run against an earlier one.
CREATE OR REPLACE VIEW changes AS
  SELECT * FROM read_parquet('changes/*/*/*.parquet', hive_partitioning = true, hive_types = {'run': VARCHAR, 'against': VARCHAR}, union_by_name = true);
