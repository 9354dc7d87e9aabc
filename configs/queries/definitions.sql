-- How many hosts shut an agent out, under each definition.
-- Base: files (the hosts of the last complete run whose rules decide). meaning counts the class of policies; by_name those
-- of them with a group that names the agent. cc and longpre are the studies' definitions as published; cc_mended and
-- longpre_mended repair their loss of agents (configs/definitions.sql). cc requires the status of the answer: if it is
-- unknown, as with --bodies, cc and cc_mended are null, and note says so.
SELECT agent,
  count(*) FILTER (class = 'disallow_all') AS meaning,
  count(*) FILTER (class = 'disallow_all' AND is_explicit) AS by_name,
  CASE WHEN count(status) > 0 THEN count(*) FILTER (class_cc_published = 'disallow-all') END AS cc,
  CASE WHEN count(status) > 0 THEN count(*) FILTER (class_cc_mended = 'disallow-all') END AS cc_mended,
  count(*) FILTER (class_longpre_published = 'all') AS longpre,
  count(*) FILTER (class_longpre_mended = 'all') AS longpre_mended,
  count(*) AS files,
  CASE WHEN count(status) < count(*) THEN 'cc: status unknown for ' || count(*) - count(status) || ' files' END AS note
FROM classifications
WHERE outcome = 'conditional_allow' AND class <> 'unknown'
  AND agent IN ('AhrefsBot', 'Baiduspider', 'bingbot', 'CCBot', 'DotBot', 'Googlebot', 'GPTBot', 'ia_archiver', 'MJ12bot', 'SemrushBot')
GROUP BY agent ORDER BY meaning DESC, agent
