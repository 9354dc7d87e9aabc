
-- What happened to the policies of hosts between two runs, a row for each host, agent and profile: the rows of changes about
-- all paths, for agents of the registry. closed: a path that was open is closed, and shut_out: the last one; opened and
-- let_in likewise. A host may have closed one path and opened another. undecided: the rules differ, and nothing is proven.
CREATE OR REPLACE VIEW policy_changes AS
  SELECT run, against, host, origin, rank, agent, category, profile,
    bool_or(coalesce(after IN ('closes', 'both', 'disallow_all') OR before = 'allow_all', false)) AS closed,
    bool_or(kind = 'policy_class' AND after = 'disallow_all') AS shut_out,
    bool_or(coalesce(after IN ('opens', 'both', 'allow_all') OR before = 'disallow_all', false)) AS opened,
    bool_or(kind = 'policy_class' AND before = 'disallow_all') AS let_in,
    bool_and(after = 'undecided') AS undecided
  FROM changes WHERE kind IN ('policy_class', 'rules') AND category IS NOT NULL
  GROUP BY run, against, host, origin, rank, agent, category, profile;
