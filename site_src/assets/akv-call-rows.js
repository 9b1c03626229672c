/* Calls as a reader chose them, each with what is associated with it: device records, the events that it waited for, and its
 * row at the other tool. Every look-up reads the pieces that can hold an answer, `most` at once: `left` says how many files
 * were not read, so that a reader asks for more. */
(function () {
  "use strict";

  if (window.akvCallRows) return;

  var PAGE = 200;
  var STEP_MOST = 20000; // calls of one step that are held at once
  var AROUND = 10; // calls shown before and after a single one

  function places(rows) {
    return rows
      .map(function (row) {
        return row.place;
      })
      .sort(function (a, b) {
        return a - b;
      });
  }

  function rising(numbers) {
    return Array.from(new Set(numbers)).sort(function (a, b) {
      return a - b;
    });
  }

  function any(wanted, low, high) {
    var a = 0;
    var b = wanted.length;
    while (a < b) {
      var middle = (a + b) >> 1;
      if (wanted[middle] < low) a = middle + 1;
      else b = middle;
    }
    return a < wanted.length && wanted[a] <= high;
  }

  /* One piece after another, `most` of them; `take(piece)` of each. Resolves with how many were not read. */
  function through(listing, numbers, most, take) {
    return numbers
      .slice(0, most)
      .reduce(function (before, number) {
        return before.then(function () {
          return listing.piece(number).then(take);
        });
      }, Promise.resolve())
      .then(function () {
        return Math.max(0, numbers.length - most);
      });
  }

  /* Rows whose column `name` is one of `wanted`, rising whole numbers: {rows, left}. */
  function gather(listing, name, wanted, most) {
    var ranges = listing.ranges[name];
    var rows = [];
    if (!wanted.length || !listing.rows) return Promise.resolve({ rows: rows, left: 0 });
    var set = new Set(wanted);
    var numbers = Object.keys(listing.counts)
      .map(Number)
      .filter(function (number) {
        if (!ranges) return true;
        return !!ranges[number] && any(wanted, ranges[number][0], ranges[number][1]);
      });
    return through(listing, numbers, most, function (piece) {
      piece.column(name).forEach(function (value, at) {
        if (set.has(value)) rows.push(piece.row(at));
      });
    }).then(function (left) {
      return { rows: rows, left: left };
    });
  }

  /* Rows by their places, rising: {rows, left}. */
  function atPlaces(listing, wanted, most) {
    var rows = [];
    var numbers = Object.keys(listing.counts)
      .map(Number)
      .filter(function (number) {
        return any(wanted, listing.firsts[number], listing.firsts[number] + listing.counts[number] - 1);
      });
    return through(listing, numbers, most, function (piece) {
      wanted.forEach(function (place) {
        if (place >= piece.first && place < piece.first + piece.rows) rows.push(piece.row(place - piece.first));
      });
    }).then(function (left) {
      return { rows: rows, left: left };
    });
  }

  /* The place of the n-th row, from 0, that has `value` in a column; null where there are not so many. What the index tells
     of the pieces before it is not loaded. */
  function placeOf(listing, name, value, n) {
    var values = listing.values[name];
    var before = 0;
    var from = 0;
    var found = null;
    var at = values && values.pieces ? values.of.indexOf(value) : -1;
    var where = at < 0 ? [] : values.pieces[at];
    for (var k = 0; k < where.length && before + where[k + 1] <= n; k += 2) {
      before += where[k + 1];
      from = listing.firsts[where[k]] + listing.counts[where[k]];
    }
    var filter = {};
    filter[name] = value;
    return listing
      .each(
        filter,
        function (piece, rows) {
          if (before + rows.length > n) {
            found = piece.first + rows[n - before];
            return false;
          }
          before += rows.length;
          return true;
        },
        from
      )
      .then(function () {
        return found;
      });
  }

  function map(rows, key) {
    var found = new Map();
    rows.forEach(function (row) {
      if (!found.has(row[key])) found.set(row[key], []);
      found.get(row[key]).push(row);
    });
    return found;
  }

  /* By the place of a call: those of its rows at the other tool. */
  function twins(lists, rows, most) {
    var wanted = places(rows);
    return gather(lists.twins, "shim_id", wanted, most).then(function (shim) {
      return gather(lists.twins, "vendor_id", wanted, most).then(function (vendor) {
        var found = new Map();
        shim.rows.concat(vendor.rows).forEach(function (pair) {
          found.set(pair.shim_id, pair.vendor_id);
          found.set(pair.vendor_id, pair.shim_id);
        });
        return { of: found, left: shim.left + vendor.left };
      });
    });
  }

  /* Of two rows of one call, the recorder's stands for both. */
  function once(rows, other) {
    var here = new Set(places(rows));
    return rows.filter(function (row) {
      return row.source === "shim" || !other.has(row.place) || !here.has(other.get(row.place));
    });
  }

  /* Calls with all that is associated with them: {calls: [{row, twin, records, waits}], left}. */
  function complete(lists, rows, most) {
    return twins(lists, rows, most).then(function (two) {
      var kept = once(rows, two.of);
      var own = places(kept);
      var others = rising(
        own
          .filter(function (place) {
            return two.of.has(place);
          })
          .map(function (place) {
            return two.of.get(place);
          })
      );
      var linked = kept.filter(function (row) {
        return row.intervals;
      });
      var waiting = kept.filter(function (row) {
        return row.waits;
      });
      return Promise.all([
        gather(lists.intervals, "call_id", rising(places(linked).concat(others)), most),
        gather(lists.waits, "call_id", places(waiting), most),
        atPlaces(lists.calls, others, most),
      ]).then(function (found) {
        var records = map(found[0].rows, "call_id");
        var waits = map(found[1].rows, "call_id");
        var twin = map(found[2].rows, "place");
        var made = kept.map(function (row) {
          var place = two.of.has(row.place) ? two.of.get(row.place) : null;
          return {
            row: row,
            twin: place,
            twinRow: (twin.get(place) || [null])[0],
            records: (records.get(row.place) || []).concat(place === null ? [] : records.get(place) || []),
            waits: waits.get(row.place) || [],
          };
        });
        return { calls: made, left: two.left + found[0].left + found[1].left + found[2].left };
      });
    });
  }

  /* What two tools drew of one iteration are two steps: both. */
  function sameSteps(lists, place) {
    return Promise.all([
      gather(lists.pairs, "step_id", [place], Infinity),
      gather(lists.pairs, "other_id", [place], Infinity),
    ]).then(function (found) {
      return rising(
        [place].concat(
          found[0].rows.map(function (pair) {
            return pair.other_id;
          }),
          found[1].rows.map(function (pair) {
            return pair.step_id;
          })
        )
      );
    });
  }

  function ofSteps(lists, wanted) {
    return wanted.reduce(function (before, step) {
      return before.then(function (rows) {
        return lists.calls.find({ step_id: step }, { count: STEP_MOST }).then(function (found) {
          return rows.concat(found.rows);
        });
      });
    }, Promise.resolve([]));
  }

  function byStart(a, b) {
    return (a.start_ns === null) - (b.start_ns === null) || a.start_ns - b.start_ns || a.place - b.place;
  }

  /* Calls that held the host, by their name or since their caller asked them to: how many, the time inside those that came
     back, added up over threads, and how many did not. */
  function held(rows) {
    var found = { calls: 0, ns: 0, open: 0 };
    rows.forEach(function (row) {
      if ((row.kind !== "wait" && !row.blocking) || row.nested) return;
      found.calls++;
      if (row.duration_ns === null) found.open++;
      else found.ns += row.duration_ns;
    });
    return found;
  }

  /* Whether a call is looked for first: one that is expected to have a device record, or has one, or held the host, or waits. */
  function told(row, expects) {
    return row.intervals > 0 || expects.indexOf(row.kind) >= 0 || row.kind === "wait" || !!row.blocking || row.waits > 0;
  }

  /* The calls of a step, a page of them, and the device records in its time that have no call; null where there is no such
     step, and {pages} where it has no such page. `expects`: kinds of calls; those of others that have and await nothing are left
     out, but where there are none besides; null for all. */
  function step(lists, place, page, most, expects) {
    return lists.steps.at(place).then(function (row) {
      if (!row) return null;
      return sameSteps(lists, place).then(function (same) {
        return Promise.all([ofSteps(lists, same), lone(lists, row)]).then(function (found) {
          return twins(lists, found[0], most).then(function (two) {
            var every = once(found[0], two.of).sort(byStart);
            var few = every.filter(function (row) {
              return !expects || told(row, expects);
            });
            var rows = few.length ? few : every;
            if (page && PAGE * page >= rows.length) return { pages: Math.max(1, Math.ceil(rows.length / PAGE)) };
            return complete(lists, withTwins(rows.slice(PAGE * page, PAGE * (page + 1)), found[0], two.of), most).then(
              function (made) {
                return {
                  calls: made.calls, left: made.left, step: row, same: same, total: rows.length, lone: found[1],
                  cut: found[0].length >= STEP_MOST, held: held(every), besides: every.length - rows.length,
                };
              }
            );
          });
        });
      });
    });
  }

  /* A page of rows, and the rows of the same calls at the other tool, which are known to be there. */
  function withTwins(page, every, other) {
    var wanted = new Set(
      page
        .filter(function (row) {
          return other.has(row.place);
        })
        .map(function (row) {
          return other.get(row.place);
        })
    );
    return page.concat(
      every.filter(function (row) {
        return wanted.has(row.place) && page.indexOf(row) < 0;
      })
    );
  }

  function lone(lists, row) {
    if (row.start_ns === null || row.duration_ns === null) return Promise.resolve(null);
    var time = { min: row.start_ns, max: row.start_ns + row.duration_ns };
    return lists.intervals.find({ call_id: null, start_ns: time }, { count: PAGE }).then(function (found) {
      return found.rows;
    });
  }

  function named(lists, name, page, most) {
    return placeOf(lists.calls, "name", name, PAGE * page).then(function (from) {
      if (from === null) return null;
      return lists.calls.find({ name: name }, { from: from, count: PAGE }).then(function (found) {
        return complete(lists, found.rows, most).then(function (made) {
          return { calls: made.calls, left: made.left, total: lists.calls.total({ name: name }), name: name };
        });
      });
    });
  }

  /* One call, the calls around it, those whose events it waited for, and those that waited for its own. */
  function single(lists, place, most) {
    return lists.calls.at(place).then(function (row) {
      if (!row) return null;
      return Promise.all([
        gather(lists.waits, "call_id", [place], most),
        gather(lists.waits, "maker_id", [place], most),
      ]).then(function (waits) {
        var why = new Map();
        for (var near = Math.max(0, place - AROUND); near <= Math.min(lists.calls.rows - 1, place + AROUND); near++) {
          why.set(near, near < place ? "on record before it" : "on record after it");
        }
        waits[0].rows.slice(0, PAGE).forEach(function (one) {
          if (one.maker_id !== null) why.set(one.maker_id, "it waited for an event of this one");
        });
        waits[1].rows.slice(0, PAGE).forEach(function (one) {
          why.set(one.call_id, "waited for an event of it");
        });
        why.set(place, "the call chosen");
        return atPlaces(lists.calls, rising(Array.from(why.keys())), most).then(function (found) {
          return complete(lists, found.rows, most).then(function (made) {
            made.calls.sort(function (a, b) {
              return byStart(a.row, b.row);
            });
            made.calls.forEach(function (call) {
              call.why = why.get(call.row.place) || why.get(call.twin);
            });
            return { calls: made.calls, left: made.left + found.left + waits[0].left + waits[1].left, call: row };
          });
        });
      });
    });
  }

  window.akvCallRows = { PAGE: PAGE, step: step, named: named, single: single };
})();
