/* What the profile of a step is made of: the rows of one step from the listings of its run, and what lies in them.
 *
 * Steps that two tools drew of one iteration are read together: the engine's probe has the regions, a profiler has the calls
 * and device records, and each row lies in the step of the tool that wrote it.
 */
(function () {
  "use strict";

  if (window.akvProfile) return;

  var MOST = 20000; // rows of one kind that a profile reads of a step
  var time = window.akvChoice.time;

  function end(row) {
    return row.duration_ns === null ? null : row.start_ns + row.duration_ns;
  }

  /* A name that may be of any length: beyond LONG its middle is left out. The rows have it whole. */
  var LONG = 96;
  function short(name) {
    return window.akvChoice.short(name, LONG);
  }

  function open(about, name) {
    return window.akvRows.open(about.rows + name);
  }

  /* All rows of a filter, at most MOST of them; `cut` is true where there are more. */
  function rowsOf(about, name, filter) {
    return open(about, name).then(function (listing) {
      return listing.find(filter, { count: MOST }).then(function (found) {
        found.rows.cut = found.next !== null;
        return found.rows;
      });
    });
  }

  /* The places of the step and of those that draw the same iteration. */
  function twins(about, place) {
    return Promise.all([
      rowsOf(about, "pairs", { step_id: place }),
      rowsOf(about, "pairs", { other_id: place }),
    ]).then(function (found) {
      var places = [place];
      found[0].concat(found[1]).forEach(function (pair) {
        [pair.step_id, pair.other_id].forEach(function (one) {
          if (one !== null && places.indexOf(one) < 0) places.push(one);
        });
      });
      return places;
    });
  }

  /* Rows of a listing in any of several steps. */
  function inSteps(about, name, places) {
    return Promise.all(
      places.map(function (place) {
        return rowsOf(about, name, { step_id: place });
      })
    ).then(function (found) {
      var all = [].concat.apply([], found);
      all.cut = found.some(function (rows) {
        return rows.cut;
      });
      return all;
    });
  }

  /* Stretches between two timing events that lie in the time of a step. They are of no call, and so of no step. */
  function spans(about, step) {
    if (!about.has.intervals || step.start_ns === null || step.duration_ns === null) return Promise.resolve([]);
    return rowsOf(about, "intervals", { kind: "span", start_ns: { max: end(step) }, end_ns: { min: step.start_ns } });
  }

  /* Everything of one step: {steps, budget, phases, regions, intervals, device_time, gaps, spans}, rows each. Records of the device
     that a call of the step is known for are in `intervals`, without the spans. */
  function of(about, place) {
    return twins(about, place).then(function (places) {
      var wanted = { budget: "regions", phases: "phases", regions: "regions", intervals: "intervals", device_time: "intervals", gaps: "intervals" };
      var names = Object.keys(wanted);
      var read = names.map(function (name) {
        return about.has[wanted[name]] ? inSteps(about, name, places) : Promise.resolve([]);
      });
      var steps = open(about, "steps").then(function (listing) {
        return Promise.all(
          places.map(function (one) {
            return listing.at(one);
          })
        );
      });
      return Promise.all([steps].concat(read)).then(function (found) {
        var data = { steps: found[0] };
        names.forEach(function (name, n) {
          data[name] = found[n + 1];
        });
        data.intervals = Object.assign(
          data.intervals.filter(function (row) {
            return row.kind !== "span";
          }),
          { cut: data.intervals.cut }
        );
        return spans(about, data.steps[0]).then(function (rows) {
          data.spans = rows;
          return data;
        });
      });
    });
  }

  /* The parts of one step's budget, largest first, and what no part covers: null where the step has no end. */
  function budget(data, step) {
    var parts = data.budget
      .filter(function (row) {
        return row.step_id === step.place;
      })
      .sort(function (a, b) {
        return b.ns - a.ns;
      });
    var covered = parts.reduce(function (sum, part) {
      return sum + part.ns;
    }, 0);
    return { parts: parts, rest: step.duration_ns === null ? null : step.duration_ns - covered };
  }

  /* Each layer's window with the regions that began in it: [{row, parts: [{name, ns}], rest}]. Of regions that overlap, each
     moment is given to the one that began first. */
  function layers(data) {
    var ended = function (row) {
      return row.duration_ns !== null;
    };
    var windows = data.regions
      .filter(function (row) {
        return row.category === "layer" && row.layer !== null && ended(row);
      })
      .sort(function (a, b) {
        return a.start_ns - b.start_ns;
      });
    var regions = data.regions
      .filter(function (row) {
        return row.category === "region" && row.layer === null && ended(row);
      })
      .sort(function (a, b) {
        return a.start_ns - b.start_ns || b.duration_ns - a.duration_ns || a.place - b.place;
      });
    return windows.map(function (row, n) {
      // A region belongs to the last window that began before it on its thread.
      var next = windows.slice(n + 1).find(function (other) {
        return other.thread === row.thread && other.step_id === row.step_id;
      });
      var covered = row.start_ns;
      var sums = new Map();
      regions.forEach(function (region) {
        if (region.thread !== row.thread || region.step_id !== row.step_id || region.start_ns < row.start_ns) return;
        if (region.start_ns >= end(row) || (next && region.start_ns >= next.start_ns)) return;
        var ns = Math.max(0, Math.min(end(region), end(row)) - Math.max(region.start_ns, covered));
        covered = Math.max(covered, end(region));
        if (ns) sums.set(region.name, (sums.get(region.name) || 0) + ns);
      });
      var parts = Array.from(sums, function (one) {
        return { name: one[0], ns: one[1] };
      });
      var inside = parts.reduce(function (sum, part) {
        return sum + part.ns;
      }, 0);
      return { row: row, parts: parts, rest: row.duration_ns - inside };
    });
  }

  /* Gaps that may be told, longest first, and how many may not: both ends are rounded to a tick, and what is not longer than
     the clock's bound has no place on the host's axis. */
  function gaps(about, data) {
    var told = data.gaps.filter(function (gap) {
      return gap.duration_ns > Math.max(about.least_gap_ns, gap.bound_ns || 0);
    });
    told.sort(function (a, b) {
      return b.duration_ns - a.duration_ns || a.place - b.place;
    });
    return { told: told, short: data.gaps.length - told.length };
  }

  /* What was on the host while each of `found` lasted: for each gap {phases, regions, calls}, rows; null where the gap has no place
     on the host's axis. Rows are looked at that began since the step before. */
  function onHost(about, data, found) {
    var placed = found.filter(function (gap) {
      return gap.start_ns !== null;
    });
    if (!placed.length) return Promise.resolve(found.map(empty));
    var low = Math.min.apply(null, placed.map(function (gap) {
      return gap.start_ns - (gap.bound_ns || 0);
    }));
    var high = Math.max.apply(null, placed.map(function (gap) {
      return end(gap) + (gap.bound_ns || 0);
    }));
    return before(about, data.steps[0], low).then(function (from) {
      var names = ["phases", "regions", "calls"];
      return Promise.all(
        names.concat("steps").map(function (name) {
          var wanted = name === "steps" || about.has[name];
          return wanted ? rowsOf(about, name, { start_ns: { min: from, max: high } }) : Promise.resolve([]);
        })
      ).then(function (rows) {
        // That a step went on is no news, and neither is the function that called the function.
        var told = rows[3].map(nameAndStart);
        rows[1] = Object.assign(
          rows[1].filter(function (row) {
            return row.category !== "python function" && told.indexOf(nameAndStart(row)) < 0;
          }),
          { cut: rows[1].cut }
        );
        return found.map(function (gap) {
          if (gap.start_ns === null) return null;
          var seen = { cut: false };
          names.forEach(function (name, n) {
            seen[name] = rows[n].filter(function (row) {
              return ofProcess(data, gap, row) && overlaps(row, gap);
            });
            seen.cut = seen.cut || rows[n].cut;
          });
          return seen;
        });
      });
    });
  }

  function nameAndStart(row) {
    return row.start_ns + " " + row.name;
  }

  function empty() {
    return null;
  }

  /* The start of a step that began before `low`, of the same process: a few steps back at most. */
  function before(about, step, low) {
    return open(about, "steps").then(function (listing) {
      function back(place, tries) {
        if (place < 0 || !tries) return Promise.resolve(low);
        return listing.at(place).then(function (one) {
          if (one.process_id !== step.process_id) return low;
          return one.start_ns !== null && one.start_ns <= low ? one.start_ns : back(place - 1, tries - 1);
        });
      }
      return back(step.place, 5);
    });
  }

  /* Of another rank nothing is said: its rows are on the same axis and have nothing to do with this queue. */
  function ofProcess(data, gap, row) {
    return (
      row.process_id === gap.process_id ||
      data.steps.some(function (step) {
        return step.process_id === row.process_id;
      })
    );
  }

  function overlaps(row, gap) {
    var half = gap.bound_ns || 0;
    var last = end(row);
    return row.start_ns < end(gap) + half && (last === null || last > gap.start_ns - half);
  }

  /* Names in rows, those that overlap longest first: ["attention (1.2 ms)", "cudaLaunchKernel ×3 (8 us)"]. */
  function named(rows, gap) {
    var found = new Map();
    rows.forEach(function (row) {
      var name = row.layer === null || row.layer === undefined ? row.name : "layer " + row.layer;
      var one = found.get(name) || { count: 0, ns: 0 };
      var last = end(row);
      one.count += 1;
      one.ns += Math.max(0, Math.min(last === null ? end(gap) : last, end(gap)) - Math.max(row.start_ns, gap.start_ns));
      found.set(name, one);
    });
    var names = Array.from(found).sort(function (a, b) {
      return b[1].ns - a[1].ns;
    });
    return names.map(function (one) {
      return short(one[0]) + (one[1].count > 1 ? " ×" + one[1].count : "") + " (" + time(one[1].ns) + ")";
    });
  }

  window.akvProfile = { of: of, budget: budget, layers: layers, gaps: gaps, onHost: onHost, named: named, end: end, most: MOST, short: short };
})();
