-- Which claims can only be supported by a designed experiment, and why?
--
-- Those about overlap, serialisation, waiting or idleness, and those whose statement or prediction says so in words, whatever
-- they say that they are about. A word is looked for as it is written here: capitals, punctuation and characters that are not
-- seen aside, and hyphens both as spaces and as nothing (`side-by-side`, `over-lapped`).
--
-- @claim    id of the claim
-- @because  why, in words
WITH RECURSIVE word(word) AS (
    VALUES ('overlap'), ('serialis'), ('serializ'), ('in series'), ('sequential'), ('one after '), ('one by one'), ('back to back'),
    ('concurrently'), (' concurrent '), ('in parallel'), ('simultaneous'), ('at the same time'), ('asynchronous'), ('side by side'),
    ('alongside'), (' during '), (' while '), (' whilst '), ('meanwhile'), ('pipelined'), ('pipelining'), ('interleav'),
    (' hide'), (' hiding '), ('hidden behind'), ('hidden by'), ('hidden under'), ('masked by'), ('masked behind'),
    ('wait'), (' blocked'), (' stall'), (' sleep'), ('idle'), ('idling'), (' starv'), (' queue is empty'), (' queues are empty'),
    (' empty queue')
), sign(place, sign, becomes) AS (
    -- What is not seen goes first: a soft hyphen, joiners, and spaces without a width.
    VALUES (1, char(173), ''), (2, char(8203), ''), (3, char(8204), ''), (4, char(8205), ''), (5, char(8206), ''),
    (6, char(8207), ''), (7, char(8288), ''), (8, char(65279), ''), (9, char(10), ' '), (10, char(13), ' '), (11, char(9), ' '),
    (12, char(160), ' '), (13, char(8239), ' '), (14, char(8201), ' '), (15, char(8208), '-'), (16, char(8209), '-'),
    (17, char(8211), ' '), (18, char(8212), ' '), (19, '(', ' '), (20, ')', ' '), (21, '[', ' '), (22, ']', ' '), (23, '"', ' '),
    (24, '''', ' '), (25, char(8216), ' '), (26, char(8217), ' '), (27, char(8220), ' '), (28, char(8221), ' '), (29, '`', ' '),
    (30, '*', ''), (31, '_', ' '), (32, ',', ' '), (33, '.', ' '), (34, ';', ' '), (35, ':', ' '), (36, '!', ' '), (37, '?', ' '),
    (38, '/', ' '), (39, '\', ' '), (40, '<', ' '), (41, '>', ' '), (42, '  ', ' '), (43, '  ', ' '), (44, '  ', ' ')
), said(claim, place, words) AS (
    SELECT k.claim, 0, ' ' || k.statement || ' ; ' || coalesce(k.predicts, '') || ' ' FROM claim k
    UNION ALL
    SELECT s.claim, g.place, replace(s.words, g.sign, g.becomes) FROM said s JOIN sign g ON g.place = s.place + 1
), plain AS (
    SELECT s.claim, replace(s.words, '-', ' ') AS apart, replace(s.words, '-', '') AS joined
    FROM said s WHERE s.place = (SELECT max(g.place) FROM sign g)
)
SELECT k.claim,
       CASE WHEN k.about LIKE '%overlap%' OR k.about LIKE '%serialisation%' OR k.about LIKE '%waiting%'
                 OR k.about LIKE '%idleness%' THEN 'a claim about ' || k.about
            ELSE 'a claim whose statement or prediction says `' || group_concat(trim(w.word), '`, `') || '`' END AS because
FROM claim k
JOIN plain p ON p.claim = k.claim
LEFT JOIN word w ON p.apart LIKE '%' || w.word || '%' OR p.joined LIKE '%' || w.word || '%'
WHERE w.word IS NOT NULL OR k.about LIKE '%overlap%' OR k.about LIKE '%serialisation%' OR k.about LIKE '%waiting%'
      OR k.about LIKE '%idleness%'
GROUP BY k.claim
