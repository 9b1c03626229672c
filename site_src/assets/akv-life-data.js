/* One token with what lies around it, out of the run's listings: its life in segments, its step, and what is linked with that.
 *
 * A life goes from milestone to milestone, as far as they are on record: its segments add up to it, to the nanosecond. Where a
 * milestone between two is not on record the stretch is one, and what happened in it is not known.
 */
(function () {
  "use strict";

  if (window.akvLifeData) return;

  var ALIKE = 50; // tokens of one request and number that are told of
  var NAMES = ["tokens", "steps", "pairs", "requests", "events", "phases", "calls", "intervals"];
  var WHOLE = /^[0-9]+$/;
  // What is drawn of each, at most; all of them are counted.
  var MOST = { others: 24, phases: 200, calls: 400, intervals: 400, events: 200, between: 60 };

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
    if (chosen.request !== undefined) return named(tokens, chosen.request, chosen.number);
    var none = { token: null, why: "There is no token in row “" + chosen.token + "”: rows are counted from 0 to " + (tokens.rows - 1) + "." };
    if (chosen.token !== undefined && !WHOLE.test(chosen.token)) return Promise.resolve(none);
    return tokens.at(chosen.token === undefined ? first : Number(chosen.token)).then(function (row) {
      return row ? { token: row, alike: [row] } : none;
    });
  }

  /* The token with this number, or, where none is asked for, the one with the least number that the request has. */
  function named(tokens, request, number) {
    if (number === undefined || number === "") return least(tokens, request);
    var why = "There is no token “" + number + "” of request " + request + ". ";
    if (!/^-?[0-9]+$/.test(number)) return Promise.resolve({ token: null, why: why + "Tokens of a request are counted from 0." });
    return tokens.find({ request: request, number: Number(number) }, { count: ALIKE }).then(function (found) {
      if (found.rows.length) return { token: found.rows[0], alike: found.rows };
      var rows = tokens.total({ request: request });
      if (rows === null) return { token: null, why: why };
      var has = rows ? "It has " + window.akvChoice.counted(rows, "row") + "." : "No token of that request is on record.";
      return { token: null, why: why + has };
    });
  }

  function least(tokens, request) {
    var found = {}; // by process, since in several a request may have that name: its least number, and where it stands
    return tokens
      .each({ request: request }, function (piece, rows) {
        var numbers = piece.column("number");
        var processes = piece.column("process_id");
        rows.forEach(function (at) {
          var own = found[processes[at]];
          if (!own || numbers[at] < own.number) own = found[processes[at]] = { number: numbers[at], places: [] };
          if (numbers[at] === own.number) own.places.push(piece.first + at);
        });
      })
      .then(function () {
        var places = Object.keys(found).reduce(function (all, process) {
          return all.concat(found[process].places);
        }, []);
        if (!places.length) return { token: null, why: "No token of request " + request + " is on record." };
        places.sort(function (a, b) {
          return a - b;
        });
        return Promise.all(
          places.slice(0, ALIKE).map(function (place) {
            return tokens.at(place);
          })
        ).then(function (rows) {
          return { token: rows[0], alike: rows };
        });
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
        row.step_id === null && row.step !== null ? numbered(lists.steps, row) : null,
        heldFor(lists, row, steps),
      ]).then(function (found) {
        return waitedFor(lists, row, steps, found[6][0]).then(function (waited) {
          return {
            waited: waited,
            numbered: found[7],
            held: found[8],
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
    var counts = filters.map(function () {
      return 0;
    });
    return filters
      .reduce(function (before, filter, n) {
        return before.then(function () {
          return listing.each(filter, function (piece, rows) {
            all += rows.length;
            counts[n] += rows.length;
            rows.forEach(function (at) {
              var place = piece.first + at;
              found.push({ weight: weight ? weight(piece, at) : -place, place: place, row: null });
            });
            found = heaviest(found, most);
            // Only what is kept is made a row: a step may have thousands of calls.
            found.forEach(function (one) {
              one.row = one.row || piece.row(one.place - piece.first);
            });
          });
        });
      }, Promise.resolve())
      .then(function () {
        var kept = found.sort(function (a, b) {
          return a.place - b.place;
        });
        return {
          all: all,
          counts: counts, // one a filter: of each step, where filters are steps
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
    return gathered(listing, [wanted], most, long).then(function (of) {
      of.from = wanted.start_ns.min;
      of.to = wanted.start_ns.max;
      return of;
    });
  }

  /* The tokens before and after it in its request, as one process recorded them. Where several have that number, since
     requests share a name, it is the nearest one in the order of the rows, which is that of the steps. */
  function neighbours(tokens, row) {
    var wanted = { request: row.request, process_id: row.process_id, number: { min: row.number - 1, max: row.number + 1 } };
    return tokens.find(wanted, { count: 400 }).then(function (found) {
      return [-1, 1].map(function (way) {
        return found.rows.reduce(function (kept, one) {
          if (one.number !== row.number + way) return kept;
          return kept && apart(kept, row, way) <= apart(one, row, way) ? kept : one;
        }, null);
      });
    });
  }

  /* Rows between the two; one that lies on the other side comes after all that do not. */
  function apart(one, row, way) {
    var rows = way * (one.place - row.place);
    return rows > 0 ? rows : 1e15 - rows;
  }

  /* How many steps have the number of a token's step, and whether steps have numbers at all. */
  function numbered(steps, row) {
    var any = { process_id: row.process_id, number: { min: -Infinity, max: Infinity } };
    var own = { process_id: row.process_id, number: row.step, nested: 0 };
    return Promise.all([steps.find(own, { count: 50 }), steps.find(any, { count: 1 })]).then(function (found) {
      return { steps: found[0].rows, any: found[1].rows.length > 0 };
    });
  }

  /* The last token of a later step that was detokenised at the same time: this one's text was held back until it came. With
     it the steps that began after its own until it was seen; null where there is none. */
  function heldFor(lists, row, steps) {
    if (row.detokenised_ns === null) return Promise.resolve(null);
    var wanted = { request: row.request, process_id: row.process_id, detokenised_ns: row.detokenised_ns };
    return lists.tokens.find(wanted, { count: 400 }).then(function (found) {
      var last = found.rows.reduce(function (kept, one) {
        return one.number > kept.number ? one : kept;
      }, row);
      if (last.place === row.place || last.step === row.step) return null;
      if (!steps.length || last.step === null) return { token: last, steps: { rows: [], all: 0 } };
      var between = { process_id: row.process_id, source: steps[0].source, nested: 0, number: { min: row.step + 1, max: Infinity }, start_ns: { min: -Infinity, max: Number(lastSeen(row)) } };
      return gathered(lists.steps, [between], MOST.between).then(function (of) {
        return { token: last, steps: of };
      });
    });
  }

  /* The steps that ran while it waited for its own: since its request arrived, or since the token before was last seen. */
  function waitedFor(lists, row, steps, before) {
    var none = { rows: [], all: 0, ns: 0 };
    var own = steps[0];
    var from = row.number === 0 ? row.arrived_ns : lastSeen(before);
    if (!own || from === null || Number(from) >= Number(own.start_ns)) return Promise.resolve(none);
    var alike = { process_id: own.process_id, source: own.source, nested: 0 };
    var inside = Object.assign({ start_ns: { min: Number(from), max: Number(own.start_ns) - 1 } }, alike);
    return gathered(lists.steps, [inside], MOST.between).then(function (of) {
      of.ns = Number(own.start_ns) - Number(from);
      // The one that was running as the wait began has the number before that of the first in it.
      var next = of.rows.length ? of.rows[0] : own;
      if (next.number === null) return of;
      return lists.steps.find(Object.assign({ number: next.number - 1 }, alike), { count: 1 }).then(function (found) {
        var first = found.rows[0];
        if (!first || first.duration_ns === null || Number(first.start_ns) + Number(first.duration_ns) <= Number(from)) return of;
        return Number(first.start_ns) < Number(from) ? { rows: [first].concat(of.rows), all: of.all + 1, ns: of.ns } : of;
      });
    });
  }

  /* The last host time on record of a token, with which its life ends. */
  function lastSeen(row) {
    if (!row) return null;
    return ["client_ns", "sent_ns", "detokenised_ns", "copied_ns", "sampled_ns"].reduce(function (kept, name) {
      return kept === null && row[name] !== null ? row[name] : kept;
    }, null);
  }

  window.akvLifeData = { open: open, token: token, segments: segments, around: around };
})();
