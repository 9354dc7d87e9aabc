-- Which rules for a crawler change anything: how the group that names an agent stands to the group for all (*).
-- Base: hosts whose file has a group of the agent's own. repeated are those whose group allows and forbids on every path
-- what the group for all does, so that naming the agent changes nothing; stricter forbids all that the other does, and
-- more; a file without a group for all allows all.
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
