
-- Figures over time, as robocensus series gives them: every complete run, by date, with its denominators. The stratum all
-- adds up the others. A share is of hosts, of files (the hosts whose rules decide; not those where a wall answered) or of
-- texts (the hosts that have a file). Whether two runs can be compared, and why not, only robocensus series says.
SET schema = 'main';

CREATE OR REPLACE VIEW series_counts AS
  SELECT r.run, r.date, s.metric, coalesce(s.stratum, 'all') AS stratum, s.agent, s.category, s.profile, s.key, s.count
  FROM (SELECT run, metric, stratum, agent, category, profile, key, sum(count)::BIGINT AS count FROM history.summary
        GROUP BY GROUPING SETS ((run, metric, stratum, agent, category, profile, key), (run, metric, agent, category, profile, key))) s
  JOIN history.runs r ON r.run = s.run;

CREATE OR REPLACE VIEW series_sizes AS
  SELECT run, date, stratum, coalesce(sum(count) FILTER (metric = 'targets'), 0)::BIGINT AS hosts,
         coalesce(sum(count) FILTER (metric = 'body_bytes'), 0)::BIGINT AS texts
  FROM series_counts GROUP BY ALL;

CREATE OR REPLACE VIEW series_files AS
  SELECT run, stratum, profile, (rules - CASE WHEN told > 0 THEN walls ELSE walls_before END)::BIGINT AS files
  FROM (SELECT run, stratum, profile, coalesce(sum(count) FILTER (metric = 'outcome' AND key = 'conditional_allow'), 0) AS rules,
               coalesce(sum(count) FILTER (metric = 'challenge_outcome'), 0) AS told, -- not by a run of an earlier version
               coalesce(sum(count) FILTER (metric = 'challenge_outcome' AND key = 'conditional_allow'), 0) AS walls,
               coalesce(sum(count) FILTER (metric = 'challenge' AND ends_with(key, ' success')), 0) AS walls_before
        FROM series_counts WHERE profile IS NOT NULL AND metric IN ('outcome', 'challenge', 'challenge_outcome') GROUP BY ALL);

CREATE OR REPLACE VIEW series_policies AS
  SELECT s.run, s.date, s.stratum, a.agent, a.category, a.profile, k.class, coalesce(c.count, 0)::BIGINT AS count, s.hosts, f.files,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, CASE WHEN k.class IN ('disallow_all', 'partial') THEN coalesce(c.count, 0) / nullif(f.files, 0) END AS of_files
  FROM (SELECT DISTINCT run, agent, category, profile FROM series_counts WHERE metric = 'policy') a
  CROSS JOIN (VALUES ('partial'), ('allow_all'), ('disallow_all'), ('unknown')) k(class)
  JOIN series_sizes s ON s.run = a.run
  LEFT JOIN series_files f ON f.run = a.run AND f.stratum = s.stratum AND f.profile = a.profile
  LEFT JOIN series_counts c ON c.metric = 'policy' AND c.run = a.run AND c.stratum = s.stratum AND c.agent = a.agent AND c.profile = a.profile AND c.key = k.class;

CREATE OR REPLACE VIEW series_closings AS
  SELECT run, stratum, category, profile, key, count FROM series_counts WHERE metric = 'category'
  UNION ALL
  SELECT run, stratum, category, profile, 'any', sum(count)::BIGINT FROM series_counts
  WHERE metric = 'category' AND key IN ('all', 'some') GROUP BY ALL;

CREATE OR REPLACE VIEW series_categories AS
  SELECT s.run, s.date, s.stratum, a.category, a.profile, k.closes, coalesce(c.count, 0)::BIGINT AS count, s.hosts, f.files,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, CASE WHEN k.closes IN ('all', 'some', 'any') THEN coalesce(c.count, 0) / nullif(f.files, 0) END AS of_files
  FROM (SELECT DISTINCT run, category, profile FROM series_counts WHERE metric = 'category') a
  CROSS JOIN (VALUES ('all'), ('some'), ('any'), ('none'), ('unknown')) k(closes)
  JOIN series_sizes s ON s.run = a.run
  LEFT JOIN series_files f ON f.run = a.run AND f.stratum = s.stratum AND f.profile = a.profile
  LEFT JOIN series_closings c ON c.run = a.run AND c.stratum = s.stratum AND c.category = a.category AND c.profile = a.profile AND c.key = k.closes;

-- Hosts by status, and by what they show: a host behind a wall has the outcome undefined and the reason challenge, whatever
-- its status says.
CREATE OR REPLACE VIEW series_answers AS
  SELECT run, date, stratum, metric, profile, key, sum(count)::BIGINT AS count
  FROM (SELECT run, date, stratum, metric, profile, key, count FROM series_counts WHERE metric IN ('status', 'outcome', 'reason')
        UNION ALL
        SELECT run, date, stratum, 'reason', profile, unnest([split_part(key, ' ', 2), 'challenge']), unnest([-count, count])
        FROM series_counts WHERE metric = 'challenge' AND profile IS NOT NULL
        UNION ALL
        SELECT run, date, stratum, 'outcome', profile, unnest([key, 'undefined']), unnest([-count, count])
        FROM series_counts WHERE metric = 'challenge_outcome')
  GROUP BY ALL HAVING sum(count) > 0;

CREATE OR REPLACE VIEW series_statuses AS
  SELECT s.run, s.date, s.stratum, k.metric, k.profile, k.key, coalesce(c.count, 0)::BIGINT AS count, s.hosts, coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts
  FROM (SELECT DISTINCT metric, profile, key FROM series_answers) k
  CROSS JOIN series_sizes s
  LEFT JOIN series_answers c ON c.run = s.run AND c.stratum = s.stratum AND c.metric = k.metric AND c.profile IS NOT DISTINCT FROM k.profile AND c.key = k.key
  WHERE k.profile IS NULL OR (s.run, k.profile) IN (SELECT (run, profile) FROM series_counts WHERE metric = k.metric);

CREATE OR REPLACE VIEW series_signals AS
  SELECT s.run, s.date, s.stratum, k.metric, k.key, coalesce(c.count, 0)::BIGINT AS count, s.hosts, s.texts,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, coalesce(c.count, 0) / nullif(s.texts, 0) AS of_texts
  FROM (SELECT DISTINCT metric, key FROM series_counts WHERE metric IN ('signal', 'field', 'preference', 'template', 'body')) k
  CROSS JOIN series_sizes s
  LEFT JOIN series_counts c ON c.run = s.run AND c.stratum = s.stratum AND c.metric = k.metric AND c.key = k.key;

-- Documents of consent, as document and outcome: of hosts, and of those that were to be asked for the document.
CREATE OR REPLACE VIEW series_documents AS
  WITH asked AS (SELECT run, stratum, split_part(key, ' ', 1) AS document, sum(count)::BIGINT AS asked FROM series_counts WHERE metric = 'document' GROUP BY ALL)
  SELECT s.run, s.date, s.stratum, k.key, coalesce(c.count, 0)::BIGINT AS count, s.hosts, coalesce(a.asked, 0)::BIGINT AS asked,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, coalesce(c.count, 0) / nullif(a.asked, 0) AS of_asked
  FROM (SELECT DISTINCT key FROM series_counts WHERE metric = 'document') k
  CROSS JOIN series_sizes s
  LEFT JOIN asked a ON a.run = s.run AND a.stratum = s.stratum AND a.document = split_part(k.key, ' ', 1)
  LEFT JOIN series_counts c ON c.metric = 'document' AND c.run = s.run AND c.stratum = s.stratum AND c.key = k.key
  WHERE s.run IN (SELECT run FROM asked);

-- Hosts that turn an identity away from a page, of those that served it to the control; and as key … control, those of them that
-- turned the control away when it asked again. paper is what robots.txt says to the identity's agent.
CREATE OR REPLACE VIEW series_pages AS
  WITH met AS (
    SELECT run, date, stratum, profile, split_part(key, ' ', 1) AS identity, split_part(key, ' ', 2) AS paper, sum(count)::BIGINT AS compared,
           coalesce(sum(count) FILTER (split_part(key, ' ', 3) NOT IN ('served', 'served_other')), 0)::BIGINT AS away,
           coalesce(sum(count) FILTER (ends_with(key, ' once')), 0)::BIGINT AS control_away
    FROM series_counts WHERE metric = 'page_met' AND NOT starts_with(key, '!') AND split_part(key, ' ', 3) NOT IN ('not_asked', 'incomparable') GROUP BY ALL
  )
  SELECT run, date, stratum, profile, identity, paper, identity || ' ' || paper || w.suffix AS key, CASE w.suffix WHEN '' THEN away ELSE control_away END AS count, compared,
         CASE w.suffix WHEN '' THEN away ELSE control_away END / compared AS of_compared
  FROM met CROSS JOIN (VALUES (''), (' control')) w(suffix);

CREATE OR REPLACE VIEW series_features AS
  SELECT s.run, s.date, s.stratum, k.key AS feature, coalesce(c.count, 0)::BIGINT AS count, s.hosts, s.texts,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, coalesce(c.count, 0) / nullif(s.texts, 0) AS of_texts
  FROM (SELECT DISTINCT key FROM series_counts WHERE metric = 'feature') k
  CROSS JOIN series_sizes s
  LEFT JOIN series_counts c ON c.metric = 'feature' AND c.run = s.run AND c.stratum = s.stratum AND c.key = k.key;

CREATE OR REPLACE VIEW series_refusals AS
  SELECT s.run, s.date, s.stratum, k.profile, k.way, coalesce(c.count, 0)::BIGINT AS count, s.hosts, f.files,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, coalesce(c.count, 0) / nullif(f.files, 0) AS of_files
  FROM (SELECT DISTINCT profile, key AS way FROM series_counts WHERE metric = 'refusal') k
  CROSS JOIN series_sizes s
  JOIN series_files f ON f.run = s.run AND f.stratum = s.stratum AND f.profile = k.profile
  LEFT JOIN series_counts c ON c.metric = 'refusal' AND c.run = s.run AND c.stratum = s.stratum AND c.profile = k.profile AND c.key = k.way;

CREATE OR REPLACE VIEW series_templates AS
  SELECT s.run, s.date, s.stratum, a.agent, a.category, a.profile, a.template, a.agent || ', ' || a.template AS words, coalesce(c.count, 0)::BIGINT AS count, s.hosts, f.files,
         coalesce(c.count, 0) / nullif(s.hosts, 0) AS of_hosts, coalesce(c.count, 0) / nullif(f.files, 0) AS of_files
  FROM (SELECT a.*, k.template
        FROM (SELECT DISTINCT run, agent, category, profile FROM series_counts WHERE metric = 'policy') a,
             (SELECT DISTINCT agent, profile, key AS template FROM series_counts WHERE metric = 'policy_template') k
        WHERE k.agent = a.agent AND k.profile = a.profile) a
  JOIN series_sizes s ON s.run = a.run
  LEFT JOIN series_files f ON f.run = a.run AND f.stratum = s.stratum AND f.profile = a.profile
  LEFT JOIN series_counts c ON c.metric = 'policy_template' AND c.run = a.run AND c.stratum = s.stratum AND c.agent = a.agent AND c.profile = a.profile AND c.key = a.template;

-- Groups of rules that stand on several registered domains in the last run: templates, known or not. A row per digest, with
-- the best-ranked host that has it, the line there, its size, and the date of the first complete run that has it anywhere.
-- template is that in whose words most of the hosts have it: null if most of them wrote it themselves.
-- The first grouping finds the few digests that may stand on several domains, by states of fixed size, and only their
-- rows are grouped by host, then by domain: DuckDB can spill all of that to disk, but not count(DISTINCT) nor the texts
-- of millions of states. The agents and rules of a group are those of its digest.
CREATE OR REPLACE VIEW families AS
  WITH hosted AS (
    SELECT digest, coalesce(f.registered_domain, g.host) AS domain, g.host, template, g.rank, line, len(tokens) AS agents, allow_rules + disallow_rules AS rules
    FROM groups g JOIN (SELECT run, seq, registered_domain FROM fetches) f USING (run, seq)
    WHERE allow_rules + disallow_rules > 0
  ),
  candidates AS (
    SELECT hash(digest) AS hashed FROM hosted GROUP BY ALL HAVING min(hash(domain)) <> max(hash(domain))
  ),
  hosts AS (
    SELECT digest, domain, host, max(template) AS template, min(rank) AS rank, min(line) AS line, max(agents) AS agents, max(rules) AS rules
    FROM hosted WHERE hash(digest) IN (SELECT hashed FROM candidates) GROUP BY digest, domain, host
  ),
  domains AS (
    SELECT digest, domain, count(*) AS hosts, max(agents) AS agents, max(rules) AS rules FROM hosts GROUP BY digest, domain
  ),
  worded AS (
    SELECT digest, max_by(template, hosts) AS template, max(hosts) AS in_its_words
    FROM (SELECT digest, template, count(*) AS hosts FROM hosts WHERE template IS NOT NULL GROUP BY digest, template) GROUP BY digest
  ),
  examples AS (
    SELECT digest, min({'rank': coalesce(rank, 9223372036854775807), 'host': host, 'line': line}) AS first FROM hosts GROUP BY digest
  ),
  shared AS (
    SELECT digest, count(*) AS domains, sum(hosts)::BIGINT AS hosts, max(agents) AS agents, max(rules) AS rules
    FROM domains GROUP BY digest HAVING count(*) > 1
  ),
  seen AS (
    SELECT g.digest, min(r.date) AS first_seen FROM history.groups g JOIN history.runs r ON r.run = g.run
    WHERE g.digest IN (SELECT digest FROM shared) GROUP BY g.digest
  )
  SELECT digest, CASE WHEN in_its_words > hosts / 2 THEN template END AS template, domains, hosts, first.host AS example, first.line AS line, agents, rules, first_seen
  FROM shared JOIN examples USING (digest) JOIN seen USING (digest) LEFT JOIN worded USING (digest);

-- How hosts that let an agent in on paper, in part or whole, meet it in the last run (--also-as): a row per identity. beyond is
-- how much more often it is turned away than the control, our own second request, in percentage points; null without a
-- control, for then nothing can be subtracted.
CREATE OR REPLACE VIEW turned_away AS
  WITH met AS (
    SELECT run, identity, is_control, max(agent) AS agent, max(category) AS category,
           count(*) FILTER (treatment <> 'incomparable') AS let_in,
           count(*) FILTER (treatment IN ('challenged', 'rate_limited', 'payment', 'refused', 'failing', 'unreached')) AS turned_away,
           count(*) FILTER (treatment = 'challenged') AS challenged,
           count(*) FILTER (treatment = 'served' AND NOT same AND policy <> 'equal') AS served_otherwise
    FROM answers WHERE coalesce(path, '/robots.txt') = '/robots.txt' AND class IN ('allow_all', 'partial') GROUP BY ALL
  ),
  control AS (SELECT run, min_by(turned_away / nullif(let_in, 0), identity) AS rate FROM met WHERE is_control GROUP BY run)
  SELECT m.run, m.identity, m.is_control, m.agent, m.category, m.let_in, m.turned_away, m.challenged, m.served_otherwise,
         round(100 * m.turned_away / nullif(m.let_in, 0), 1) AS percent,
         CASE WHEN NOT m.is_control THEN round(100 * (m.turned_away / nullif(m.let_in, 0) - c.rate), 1) END AS beyond
  FROM met m LEFT JOIN control c USING (run);

-- What identities met on a page in the last run (--pages), a row per host and identity, beside what robots.txt says to the agent.
-- away: it was asked and got no page. compared: the control was served. once: it was not when it asked again.
CREATE OR REPLACE VIEW pages_met AS
  WITH control AS (
    SELECT run, seq, bool_or(treatment = 'served') AS served, coalesce(bool_or(remark = 'once'), false) AS once
    FROM answers WHERE is_control AND path <> '/robots.txt' GROUP BY run, seq
  )
  SELECT a.run, a.seq, a.host, a.rank, stratum(a.rank) AS stratum, f.cdn, a.origin, a.path, a.identity, a.is_control, a.agent, a.category, a.paper, a.verdict,
         a.treatment, a.remark, a.status, a.challenge, a.price, a.treatment NOT IN ('served', 'served_other', 'not_asked') AS away,
         coalesce(c.served, false) AND a.treatment <> 'not_asked' AS compared, coalesce(c.once, false) AS once
  FROM answers a JOIN (SELECT run, seq, cdn FROM fetches) f USING (run, seq) LEFT JOIN control c USING (run, seq) WHERE a.path <> '/robots.txt';

-- Paper and practice: what robots.txt says to an agent, and how often it is turned away from a page, in the last run; of all
-- hosts that are compared, and by band of rank and network (dimension and value). percent is the share of these hosts that turn
-- the identity away; beyond is how much more often they do so than to the control when it asks again, in percentage points, with
-- the interval at 0.95 (R. G. Newcombe, Statistics in Medicine 17, 1998, 2635, method 10), as if hosts were drawn at random.
CREATE OR REPLACE VIEW paper_and_practice AS
  WITH counted AS (
    SELECT run, identity, agent, category, paper, CASE WHEN stratum IS NOT NULL THEN 'stratum' WHEN cdn IS NOT NULL THEN 'cdn' ELSE 'all' END AS dimension, coalesce(stratum, cdn) AS value,
           count(*) AS hosts, count(*) FILTER (treatment = 'served') AS served, count(*) FILTER (treatment = 'served_other') AS served_other,
           count(*) FILTER (treatment = 'payment') AS payment, count(*) FILTER (treatment = 'rate_limited') AS rate_limited, count(*) FILTER (treatment = 'challenge') AS challenge,
           count(*) FILTER (treatment = 'refused') AS refused, count(*) FILTER (treatment = 'redirected_away') AS redirected_away,
           count(*) FILTER (treatment = 'server_error') AS server_error, count(*) FILTER (treatment = 'no_answer') AS no_answer,
           count(*) FILTER (away AND once) AS a, count(*) FILTER (NOT away AND once) AS b, count(*) FILTER (away AND NOT once) AS c, count(*) FILTER (NOT away AND NOT once) AS e
    FROM (SELECT * REPLACE (coalesce(cdn, 'none') AS cdn) FROM pages_met) WHERE compared AND NOT is_control
    GROUP BY GROUPING SETS ((run, identity, agent, category, paper), (run, identity, agent, category, paper, stratum), (run, identity, agent, category, paper, cdn))
  ),
  shares AS (
    SELECT *, (a + b) / hosts AS before, (a + c) / hosts AS after, 1.959963984540054 AS z,
           (a + b)::DOUBLE * (c + e) * (a + c) * (b + e) AS margins, a::DOUBLE * e - b::DOUBLE * c AS product
    FROM counted
  ),
  scores AS (
    SELECT *, CASE WHEN margins > 0 THEN CASE WHEN product > 0 THEN greatest(0, product - hosts / 2) ELSE product END / sqrt(margins) ELSE 0 END AS phi,
           (before + z * z / (2 * hosts)) / (1 + z * z / hosts) AS m0, z * sqrt(before * (1 - before) / hosts + z * z / (4 * hosts * hosts)) / (1 + z * z / hosts) AS h0,
           (after + z * z / (2 * hosts)) / (1 + z * z / hosts) AS m1, z * sqrt(after * (1 - after) / hosts + z * z / (4 * hosts * hosts)) / (1 + z * z / hosts) AS h1
    FROM shares
  ),
  ends AS (
    SELECT *, before - least(before, greatest(0, m0 - h0)) AS l0, greatest(before, least(1, m0 + h0)) - before AS u0,
           after - least(after, greatest(0, m1 - h1)) AS l1, greatest(after, least(1, m1 + h1)) - after AS u1 FROM scores
  )
  SELECT run, identity, agent, category, paper, dimension, value, hosts, served, served_other, payment, rate_limited, challenge, refused, redirected_away, server_error,
         no_answer, a + b AS control_away, round(100 * after, 1) AS percent, round(100 * (after - before), 1) AS beyond,
         round(100 * greatest(-1, after - before - sqrt(greatest(0, l1 * l1 - 2 * phi * l1 * u0 + u0 * u0))), 1) AS low,
         round(100 * least(1, after - before + sqrt(greatest(0, u1 * u1 - 2 * phi * u1 * l0 + l0 * l0))), 1) AS high
  FROM ends;

-- Identities that a host turns away in the last run and did not in the complete run before it, where it gave a file or said
-- that there is none: whom a site newly turns away. A host that turns our own second request, the control, away too is left out.
CREATE OR REPLACE VIEW newly_turned_away AS
  WITH runs AS (SELECT run, row_number() OVER (ORDER BY date DESC, run DESC) AS n FROM history.runs),
  met AS (
    SELECT r.n, a.*, a.treatment IN ('challenged', 'rate_limited', 'payment', 'refused', 'failing', 'unreached') AS away
    FROM history.answers a JOIN runs r USING (run) WHERE r.n <= 2 AND coalesce(a.path, '/robots.txt') = '/robots.txt'
  )
  SELECT a.run, a.host, a.rank, a.origin, a.identity, a.agent, a.category, a.class, b.run AS before_run,
         b.treatment AS before, a.treatment AS after, a.status, a.challenge
  FROM met a JOIN met b ON b.n = 2 AND b.origin = a.origin AND b.identity = a.identity
  WHERE a.n = 1 AND a.away AND NOT a.is_control AND b.treatment IN ('served', 'absent')
    AND NOT EXISTS (SELECT 1 FROM met c WHERE c.n = 1 AND c.seq = a.seq AND c.is_control AND c.away);
