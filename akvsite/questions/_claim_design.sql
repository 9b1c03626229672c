-- Which claims can only be supported by a designed experiment, and why?
--
-- Those about overlap, serialisation, waiting or idleness, and those whose statement says so in words, whatever they say
-- that they are about. A word is looked for as it is written here, capitals aside.
--
-- @claim    id of the claim
-- @because  why, in words
SELECT k.claim,
       CASE WHEN k.about LIKE '%overlap%' OR k.about LIKE '%serialisation%' OR k.about LIKE '%waiting%'
                 OR k.about LIKE '%idleness%' THEN 'a claim about ' || k.about
            ELSE 'a claim whose statement says `' || group_concat(trim(w.word), '`, `') || '`' END AS because
FROM claim k
LEFT JOIN (
    SELECT 'overlap' AS word
    UNION ALL SELECT 'serialis' UNION ALL SELECT 'serializ' UNION ALL SELECT 'in series' UNION ALL SELECT 'one after '
    UNION ALL SELECT 'concurrently' UNION ALL SELECT 'in parallel' UNION ALL SELECT 'simultaneous'
    UNION ALL SELECT 'at the same time' UNION ALL SELECT ' while ' UNION ALL SELECT 'meanwhile'
    UNION ALL SELECT ' hide' UNION ALL SELECT 'hidden behind' UNION ALL SELECT 'hidden by'
    UNION ALL SELECT 'wait' UNION ALL SELECT ' blocked' UNION ALL SELECT ' stall'
    UNION ALL SELECT 'idle' UNION ALL SELECT 'idling' UNION ALL SELECT ' starv'
) w ON replace(replace(replace(' ' || k.statement, char(10), ' '), char(13), ' '), char(9), ' ') LIKE '%' || w.word || '%'
WHERE w.word IS NOT NULL OR k.about LIKE '%overlap%' OR k.about LIKE '%serialisation%' OR k.about LIKE '%waiting%'
      OR k.about LIKE '%idleness%'
GROUP BY k.claim
