/* One token with what lies around it, out of the run's listings: its life in segments, its step, and what is linked with that.
 *
 * A life goes from milestone to milestone, as far as they are on record: its segments add up to it, to the nanosecond. Where a
 * milestone between two is not on record the stretch is one, and what happened in it is not known.
 */
(function () {
  "use strict";

  if (window.akvLifeData) return;

  var NAMES = ["tokens", "steps", "pairs", "requests", "events", "phases", "calls", "intervals"];
  // What is drawn of each, at most; all of them are counted.
  var MOST = { others: 24, phases: 200, calls: 400, intervals: 400, events: 200 };

  function open(about) {
    return Promise.all(
      NAMES.map(function (name) {
        return window.akvRows.open(about.rows + name);
      })
    ).then(function (opened) {
      var lists = {};
      NAMES.forEach(function (name, n) {
        lists[name] = opened[n];
      });
      return lists;
    });
  }

  /* {token}, or {token: null, why}. `chosen` is what the address says. */
  function token(lists, chosen, first) {
    var tokens = lists.tokens;
    if (chosen.request !== undefined) return named(tokens, chosen.request, Number(chosen.number || 0));
    var place = chosen.token === undefined ? first : Number(chosen.token);
    return tokens.at(place).then(function (row) {
      return row ? { token: row, alike: [row] } : { token: null, why: "There is no token in row " + chosen.token + "." };
    });
  }

  function named(tokens, request, number) {
    return tokens.find({ request: request, number: number }, { count: 50 }).then(function (found) {
      if (found.rows.length) return { token: found.rows[0], alike: found.rows };
      var rows = tokens.total({ request: request });
      var has = rows ? "It has " + rows.toLocaleString("en") + " rows." : "No token of that request is on record.";
      return { token: null, why: "There is no token " + number + " of request " + request + ". " + has };
    });
  }

  /* The stretches of a token's life: from and to as places of milestones, start and end as times, and how well both are
     known. Empty where it has fewer than two milestones. */
  function segments(row, milestones) {
    var known = [];
    milestones.forEach(function (milestone, place) {
      // The arrival is of the request: the life of a later token begins where its step was scheduled.
      var time = row[milestone.name + "_ns"];
      if (time === null || time === undefined || (place === 0 && row.number !== 0)) return;
      known.push({ place: place, time: Number(time), bound: milestone.device ? row.device_bound_ns : 0 });
    });
    if (row.tokens !== null && row.tokens < 1) return [];
    return known.slice(1).map(function (to, n) {
      var from = known[n];
      return {
        from: from.place,
        to: to.place,
        start: from.time,
        end: to.time,
        startBound: from.bound,
        endBound: to.bound,
        missing: milestones.slice(from.place + 1, to.place),
      };
    });
  }

  /* Everything that is drawn or told beside a token. */
  function around(lists, row) {
    return stepsOf(lists, row).then(function (steps) {
      var places = steps.map(function (step) {
        return step.place;
      });
      return Promise.all([
        inSteps(lists.tokens, row.step_id === null ? [] : [row.step_id], MOST.others + 1),
        inSteps(lists.phases, places, MOST.phases),
        inSteps(lists.calls, places, MOST.calls, linked),
        inSteps(lists.intervals, places, MOST.intervals, long),
        inTime(lists.intervals, steps, MOST.intervals),
        lists.events.find({ request: row.request }, { count: MOST.events }),
        neighbours(lists.tokens, row),
      ]).then(function (found) {
        return {
          steps: steps,
          others: found[0],
          phases: found[1],
          calls: found[2],
          intervals: found[3],
          inTime: found[4],
          events: found[5],
          before: found[6][0],
          after: found[6][1],
        };
      });
    });
  }

  /* The token's step, and the same iteration as another source drew it: its calls may lie in that one. */
  function stepsOf(lists, row) {
    if (row.step_id === null) return Promise.resolve([]);
    return Promise.all([
      lists.pairs.find({ step_id: row.step_id }),
      lists.pairs.find({ other_id: row.step_id }),
    ]).then(function (found) {
      var places = [row.step_id];
      found[0].rows.concat(found[1].rows).forEach(function (pair) {
        [pair.step_id, pair.other_id].forEach(function (place) {
          if (place !== null && places.indexOf(place) < 0) places.push(place);
        });
      });
      return Promise.all(
        places.map(function (place) {
          return lists.steps.at(place);
        })
      );
    });
  }

  /* Rows of the steps, and how many there are in all. Where there are more than `most`, those that weigh most are kept, in
     their order: weight(piece, at) -> number. */
  function inSteps(listing, places, most, weight) {
    return gathered(
      listing,
      places.map(function (place) {
        return { step_id: place };
      }),
      most,
      weight
    );
  }

  function gathered(listing, filters, most, weight) {
    var found = [];
    var all = 0;
    return filters
      .reduce(function (before, filter) {
        return before.then(function () {
          return listing.each(filter, function (piece, rows) {
            all += rows.length;
            rows.forEach(function (at) {
              var place = piece.first + at;
              found.push({ weight: weight ? weight(piece, at) : -place, place: place, row: piece.row(at) });
            });
            if (found.length > 4 * most) found = heaviest(found, most);
          });
        });
      }, Promise.resolve())
      .then(function () {
        var kept = heaviest(found, most).sort(function (a, b) {
          return a.place - b.place;
        });
        return {
          all: all,
          rows: kept.map(function (one) {
            return one.row;
          }),
        };
      });
  }

  function heaviest(found, most) {
    return found
      .sort(function (a, b) {
        return b.weight - a.weight || a.place - b.place;
      })
      .slice(0, most);
  }

  function long(piece, at) {
    return Number(piece.column("duration_ns")[at]) || 0;
  }

  /* Calls with device records before the others, then the longest. */
  function linked(piece, at) {
    return (piece.column("intervals")[at] > 0 ? 1e15 : 0) + long(piece, at);
  }

  /* Device records without a step of their own that begin in the time of the token's step. */
  function inTime(listing, steps, most) {
    var step = steps[0];
    if (!step || step.duration_ns === null) return Promise.resolve({ rows: [], all: 0 });
    var from = Number(step.start_ns);
    var wanted = { step_id: null, start_ns: { min: from, max: from + Number(step.duration_ns) } };
    return gathered(listing, [wanted], most, long);
  }

  /* The tokens before and after it in its request, as one process recorded them. */
  function neighbours(tokens, row) {
    var wanted = { request: row.request, process_id: row.process_id, number: { min: row.number - 1, max: row.number + 1 } };
    return tokens.find(wanted, { count: 20 }).then(function (found) {
      return [row.number - 1, row.number + 1].map(function (number) {
        return (
          found.rows.find(function (one) {
            return one.number === number;
          }) || null
        );
      });
    });
  }

  window.akvLifeData = { open: open, token: token, segments: segments, around: around };
})();
