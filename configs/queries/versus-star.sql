-- Which groups for a crawler change anything: the group that names an agent, compared with the group for all (*).
-- Base: hosts whose file has a group that names the agent. repeated counts those whose group allows and forbids the same as
-- the group for all on every path, so that naming the agent changes nothing; a stricter group forbids all that the group
-- for all forbids, and more. A file without a group for all allows all.
SELECT agent, category, count(*) AS named,
  count(*) FILTER (versus_star = 'equal') AS repeated,
  round(100 * repeated / named, 1) AS percent_of_named,
  count(*) FILTER (versus_star = 'stricter') AS stricter,
  count(*) FILTER (versus_star = 'looser') AS looser,
  count(*) FILTER (versus_star = 'mixed') AS mixed,
  count(*) FILTER (versus_star = 'undecided') AS undecided
FROM policies
WHERE match = 'own'
GROUP BY agent, category
ORDER BY named DESC, agent LIMIT 15
