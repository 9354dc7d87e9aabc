-- How many hosts keep an agent out, by whose definition.
-- Denominator: the hosts of the last run that have a file (files). meaning is the class of policies; by_name are those of
-- them with a group of the agent's own. cc and longpre are the studies' definitions as published, cc_mended and
-- longpre_mended with their loss of agents mended (configs/definitions.sql).
SELECT agent,
  count(*) FILTER (class = 'disallow_all') AS meaning,
  count(*) FILTER (class = 'disallow_all' AND is_explicit) AS by_name,
  count(*) FILTER (class_cc_published = 'disallow-all') AS cc,
  count(*) FILTER (class_cc_mended = 'disallow-all') AS cc_mended,
  count(*) FILTER (class_longpre_published = 'all') AS longpre,
  count(*) FILTER (class_longpre_mended = 'all') AS longpre_mended,
  count(*) AS files
FROM classifications
WHERE run = (FROM last_run) AND profile = 'google' AND class_longpre_published <> 'no_robots'
  AND agent IN ('AhrefsBot', 'Baiduspider', 'bingbot', 'CCBot', 'DotBot', 'Googlebot', 'GPTBot', 'ia_archiver', 'MJ12bot', 'SemrushBot')
GROUP BY agent ORDER BY meaning DESC, agent
