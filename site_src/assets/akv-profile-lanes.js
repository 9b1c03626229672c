/* The drawing of one step: what the host did, and beneath it the device's queues. */
(function () {
  "use strict";

  if (window.akvProfileLanes) return;

  var BARS = 3000; // in one drawing, at most: the shortest are left out, and that is said
  var time = window.akvChoice.time;
  var counted = window.akvChoice.counted;
  var bound = window.akvChoice.bound;

  var short = window.akvProfile.short;

  function bar(row, zero, kind, more) {
    var last = window.akvProfile.end(row);
    var name = short(row.name);
    return Object.assign(
      {
        start: row.start_ns - zero,
        end: last === null ? null : last - zero,
        startBound: 0,
        endBound: 0,
        kind: kind,
        name: name,
        label: name,
        title: name + ": " + time(row.duration_ns) + ", from " + time(row.start_ns - zero),
      },
      more || {}
    );
  }

  /* Bars that lie whole inside an earlier one of their lane are left out: [those that stay, how many do not]. */
  function outer(bars) {
    var reached = -Infinity;
    var kept = bars
      .slice()
      .sort(function (a, b) {
        return a.start - b.start || (b.end || Infinity) - (a.end || Infinity);
      })
      .filter(function (one) {
        var last = one.end === null ? Infinity : one.end;
        if (last <= reached) return false;
        reached = Math.max(reached, last);
        return true;
      });
    return [kept, bars.length - kept.length];
  }

  /* Rows by the lane that they lie on, in the order of the lanes' first rows. */
  function grouped(rows, label) {
    var found = new Map();
    rows.forEach(function (row) {
      var name = label(row);
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(row);
    });
    return found;
  }

  function several(rows, column) {
    return (
      new Set(
        rows.map(function (row) {
          return row[column];
        })
      ).size > 1
    );
  }

  function host(data, zero, dropped) {
    var lanes = data.steps.map(function (step) {
      return { label: "step (" + step.source + ")", bars: [bar(step, zero, "step")] };
    });
    var threads = several(data.phases, "thread");
    grouped(data.phases, function (row) {
      return "runner phases" + (threads ? ", thread " + row.thread : "");
    }).forEach(function (rows, label) {
      lanes.push({
        label: label,
        bars: rows.map(function (row) {
          return bar(row, zero, "phase");
        }),
      });
    });
    var rows = data.regions.filter(function (row) {
      return row.category !== "python function" && row.category !== "overhead" && !isStep(data, row);
    });
    var names = { region: "regions", layer: "layer windows", operator: "operators", annotation: "annotations" };
    var split = several(rows, "thread");
    grouped(rows, function (row) {
      return (names[row.category] || row.category) + (split ? ", thread " + row.thread : "");
    }).forEach(function (own, label) {
      var made = outer(
        own.map(function (row) {
          var name = row.layer === null ? short(row.name) : "layer " + row.layer;
          return bar(row, zero, names[row.category] || row.category, { label: name, title: name + ": " + time(row.duration_ns) });
        })
      );
      dropped.inside += made[1];
      lanes.push({ label: label, bars: made[0] });
    });
    return lanes;
  }

  function isStep(data, row) {
    return data.steps.some(function (step) {
      return row.name === step.name && row.start_ns === step.start_ns;
    });
  }

  function queues(rows, barOf, before) {
    var lanes = [];
    var devices = several(rows, "device");
    grouped(rows, function (row) {
      return (before || "") + "queue " + short(row.queue) + (devices ? ", device " + short(row.device) : "");
    }).forEach(function (own, label) {
      lanes.push({ label: label, bars: own.map(barOf) });
    });
    return lanes;
  }

  /* Over BARS the shortest are left out; how many. */
  function thinned(lanes) {
    var all = [].concat.apply(
      [],
      lanes.map(function (lane) {
        return lane.bars;
      })
    );
    if (all.length <= BARS) return 0;
    var length = function (one) {
      return one.end === null ? Infinity : one.end - one.start;
    };
    var limit = all.map(length).sort(function (a, b) {
      return b - a;
    })[BARS];
    var left = 0;
    lanes.forEach(function (lane) {
      var kept = lane.bars.filter(function (one) {
        return length(one) > limit;
      });
      left += lane.bars.length - kept.length;
      lane.bars = kept;
    });
    return left;
  }

  function notes(left, dropped, cut, spans) {
    var said = [];
    if (spans) said.push("a stretch between two timing events is no work: work and waiting lie in it alike");
    if (dropped) said.push(counted(dropped, "row lies", "rows lie") + " whole inside another of the lane, and not drawn");
    if (left) said.push(counted(left, "bar") + " not drawn, the shortest: see the rows");
    if (cut) said.push("more than " + window.akvProfile.most + " rows of a kind are in this step: the first of them are drawn");
    return said;
  }

  function onHostAxis(row, zero) {
    var last = window.akvProfile.end(row);
    return {
      start: row.start_ns - zero,
      end: last === null ? null : row.end_ns === null ? last - zero : row.end_ns - zero,
      startBound: row.start_bound_ns,
      endBound: row.end_bound_ns,
      kind: row.kind,
      name: short(row.name),
      title: short(row.name) + ": " + time(row.duration_ns) + ", start " + bound(row.start_bound_ns) + ", end " + bound(row.end_bound_ns),
    };
  }

  /* Not work, so without the hue of any. */
  function between(row, zero) {
    var made = onHostAxis(row, zero);
    return Object.assign(made, { kind: "between two timing events", plain: true, title: "between two timing events, not work: " + made.title });
  }

  /* One drawing on the host's axis; a second one where device records have no place on it. */
  function specs(about, data) {
    var step = data.steps[0];
    var name = short(step.name);
    var zero = step.start_ns;
    var dropped = { inside: 0 };
    var cut = data.regions.cut || data.intervals.cut || data.phases.cut || data.spans.cut;
    var placed = data.intervals.filter(function (row) {
      return row.start_ns !== null;
    });
    var apart = data.intervals.filter(function (row) {
      return row.start_ns === null && row.own_start_ns !== null;
    });
    var lanes = host(data, zero, dropped).concat(
      queues(placed, function (row) {
        return onHostAxis(row, zero);
      }),
      queues(data.spans, function (row) {
        return between(row, zero);
      }, "timing events, ")
    );
    var left = thinned(lanes);
    var made = [
      {
        question: "Where did the time of " + name + " go?",
        summary: summary(step, data, placed),
        zero: "the start of " + name + " (" + step.source + ")",
        lanes: lanes,
        windows: [{ start: 0, end: step.duration_ns, label: name }],
        views: step.duration_ns ? [{ label: "the step", from: 0, to: step.duration_ns }] : [],
        footer: about.footer.concat(notes(left, dropped.inside, cut, data.spans.length)),
      },
    ];
    if (apart.length) made.push(ownClock(about, step, apart));
    return made;
  }

  function ownClock(about, step, rows) {
    var first = Math.min.apply(
      null,
      rows.map(function (row) {
        return row.own_start_ns;
      })
    );
    var lanes = queues(rows, function (row) {
      var start = row.own_start_ns - first;
      return {
        start: start,
        end: row.duration_ns === null ? null : start + row.duration_ns,
        startBound: 0,
        endBound: 0,
        kind: row.kind,
        name: short(row.name),
        title: short(row.name) + ": " + time(row.duration_ns),
      };
    });
    var left = thinned(lanes);
    var question = "What ran on the device for " + short(step.name) + ", by the device's own clock?";
    return {
      question: question,
      summary: question + " " + counted(rows.length, "record") + " without a place on the host's axis.",
      zero: "the first of these records, on the device's own clock: it says nothing about when the host did what",
      lanes: lanes,
      footer: about.footer.concat(notes(left, 0, false)),
    };
  }

  function summary(step, data, placed) {
    return (
      "Lanes of " + short(step.name) + ", which took " + time(step.duration_ns) + ": " + counted(data.phases.length, "runner phase") + ", " +
      counted(data.regions.length, "row") + " of the host, " + counted(placed.length, "device record") +
      (data.spans.length ? ", " + counted(data.spans.length, "stretch", "stretches") + " between two timing events, which are no work" : "") + ". The tables below say the same in numbers."
    );
  }

  window.akvProfileLanes = { specs: specs };
})();
