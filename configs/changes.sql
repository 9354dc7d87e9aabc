
-- What happened to the policies of hosts between two runs, a row for each host, agent and profile: the rows of changes about
-- all paths, for agents of the registry. closed: a path that was open is closed, and shut_out: the last one; opened and
-- let_in likewise. A host may have closed one path and opened another. undecided: the rules differ, and nothing is proven.
CREATE OR REPLACE VIEW policy_changes AS
  SELECT run, against, host, origin, rank, agent, category, profile,
    bool_or(coalesce(after IN ('closes', 'both', 'disallow_all') OR before = 'allow_all', false)) AS closed,
    bool_or(kind = 'policy_class' AND after = 'disallow_all') AS shut_out,
    bool_or(coalesce(after IN ('opens', 'both', 'allow_all') OR before = 'disallow_all', false)) AS opened,
    bool_or(kind = 'policy_class' AND before = 'disallow_all') AS let_in,
    bool_and(after = 'undecided') AS undecided,
    any_value(template) AS template -- whose words the change is
  FROM changes WHERE kind IN ('policy_class', 'rules') AND category IS NOT NULL
  GROUP BY run, against, host, origin, rank, agent, category, profile;

-- What files state about use now, and did not state to some agent before, a row for each host, profile and use; ends: to
-- some agent nothing any more, whatever they state to others; template: to all of these agents in the words of a template. An agent that is shut out in one of the runs does not count.
CREATE OR REPLACE VIEW preference_changes AS
  SELECT run, against, host, origin, rank, profile, use, count(*) AS agents,
    bool_or(coalesce(after = 'disallow', false)) AS refuses, bool_or(coalesce(after = 'allow', false)) AS permits,
    bool_or(coalesce(after = 'partial', false)) AS depends, bool_or(after IS NULL) AS ends, bool_or(coalesce(after = 'undecided', false)) AS undecided,
    bool_and(template IS NOT NULL) AS template
  FROM changes WHERE kind = 'preference' AND document IS NULL
  GROUP BY run, against, host, origin, rank, profile, use;

-- How hosts answer identities now, for robots.txt (answer_changes) or for a page (page_changes), and did not before, a row for each host and identity: turned_away (refused, met with a
-- wall, or asked to pay or to slow down), let_in (no longer turned away), otherwise (another file, or turned away in another way). undecided: one of both
-- answers looks like an outage, or its meaning is not known. Where a run has a control, and the host turned that away or
-- answered it otherwise than us, there is no row.
CREATE OR REPLACE VIEW identity_changes AS
  SELECT kind, run, against, host, origin, rank, identity, agent, category, before, after,
    certain AND is_away AND NOT was_away AS turned_away, certain AND was_away AND NOT is_away AS let_in, certain AND was_away = is_away AS otherwise,
    NOT certain AS undecided
  FROM (SELECT *, before IN ('challenged', 'challenge', 'rate_limited', 'payment', 'refused', 'redirected_away') AS was_away,
               after IN ('challenged', 'challenge', 'rate_limited', 'payment', 'refused', 'redirected_away') AS is_away,
               NOT list_has_any([before, after], ['failing', 'unreached', 'undecided', 'server_error', 'no_answer']) AS certain
        FROM changes WHERE kind IN ('answer', 'page'));

CREATE OR REPLACE VIEW answer_changes AS SELECT * EXCLUDE (kind) FROM identity_changes WHERE kind = 'answer';

-- The same of what identities meet on a page (--pages): turned_away also where it is redirected to another site. Where a run has
-- a control, and the host did not serve it the page each time that it asked, there is no row.
CREATE OR REPLACE VIEW page_changes AS SELECT * EXCLUDE (kind) FROM identity_changes WHERE kind = 'page';

-- Which documents of consent hosts have now (--documents), and did not before, a row for each host and document: came, gone,
-- reworded (there before and now, with another text), otherwise (not there, for another reason).
CREATE OR REPLACE VIEW document_changes AS
  SELECT run, against, host, origin, rank, document, before, after, after = 'present' AS came, before = 'present' AND after NOT IN ('present', 'other_text') AS gone,
    after = 'other_text' AS reworded, before <> 'present' AND after <> 'present' AS otherwise
  FROM changes WHERE kind = 'document';

-- What documents of consent state about uses now, and did not before, a row for each host, document and use. depends: on the path,
-- or on who asks; ends: nothing any more; undecided: it depended and still does, by other statements.
CREATE OR REPLACE VIEW statement_changes AS
  SELECT run, against, host, origin, rank, document, use, before, after, coalesce(after = 'disallow', false) AS refuses, coalesce(after = 'allow', false) AS permits,
    coalesce(after = 'priced', false) AS prices, coalesce(after = 'partial', false) AS depends, after IS NULL AS ends, coalesce(after = 'undecided', false) AS undecided
  FROM changes WHERE kind = 'preference' AND document IS NOT NULL;
