/* Calls on their threads, and beneath them the device records on their queues, as one drawing: a thin line joins what is
 * associated, and what is associated with nothing has lanes of its own. */
(function () {
  "use strict";

  if (window.akvCallLanes) return;

  var LINES = 400; // lines in one drawing; of calls with more records the first alone is joined
  var LONG = 200; // letters of a name in what is said of a bar
  var parts = window.akvCallParts;
  // A call and what it asks the device for have one hue: their lanes tell them apart.
  var KINDS = ["launch, kernel", "copy", "fill", "wait", "graph replay", "other"];

  function hue(kind) {
    if (kind === "launch" || kind === "kernel") return KINDS[0];
    return KINDS.indexOf(kind) < 0 ? "other" : kind;
  }

  var choice = window.akvChoice;
  var element = choice.element;

  function Lanes() {
    this.order = [[], [], [], []];
    this.found = new Map();
  }

  /* A lane of one of four groups: threads, their calls with no record, queues, their records with no call. */
  Lanes.prototype.lane = function (group, label) {
    var key = group + " " + label;
    if (!this.found.has(key)) {
      var made = { label: label, bars: [] };
      this.found.set(key, made);
      this.order[group].push(made);
    }
    return this.found.get(key);
  };

  Lanes.prototype.all = function () {
    return this.order.reduce(function (all, group) {
      return all.concat(
        group.sort(function (a, b) {
          return a.label < b.label ? -1 : a.label > b.label ? 1 : 0;
        })
      );
    }, []);
  };

  function distinct(rows, key) {
    return new Set(
      rows.map(function (row) {
        return row[key];
      })
    ).size;
  }

  function nameOf(row) {
    return window.akvChoice.short(row.name, LONG);
  }

  function callBar(call, base) {
    var row = call.row;
    var words = nameOf(row) + " (" + row.kind + "), row " + row.place + ": " + parts.inside(row) + (call.records.length ? ", " + choice.counted(call.records.length, "device record") + ", " + parts.delay(call) : "");
    return {
      start: row.start_ns - base, end: row.duration_ns === null ? null : row.start_ns + row.duration_ns - base, startBound: 0, endBound: 0,
      kind: hue(row.kind), name: row.name, title: words,
      onpick: function () {
        window.akvChoice.write({ call: row.place, step: null, name: null, page: null });
      },
    };
  }

  function recordBar(record, base) {
    var from = record.call_id === null ? "no call on record" : "associated with call " + record.call_id + " by " + record.made_by;
    return {
      start: record.start_ns - base, end: record.end_ns === null ? null : record.end_ns - base,
      startBound: record.start_bound_ns, endBound: record.end_bound_ns, kind: hue(record.kind), name: record.name,
      title: nameOf(record) + " (" + record.kind + ", row " + record.place + "), " + from,
    };
  }

  function draw(box, about, view, question, lines) {
    var calls = view.calls.filter(function (call) {
      return call.row.start_ns !== null;
    });
    if (!calls.length) {
      box.append(element("p", {}, view.calls.length ? "None of these calls has a time, so that nothing is drawn." : "No call is on record here."));
      return;
    }
    var base = calls.reduce(function (least, call) {
      return Math.min(least, call.row.start_ns);
    }, Infinity);
    var lanes = new Lanes();
    var rows = calls.map(function (call) {
      return call.row;
    });
    var several = { source: distinct(rows, "source") > 1, process_id: distinct(rows, "process_id") > 1 };
    var drawn = [];
    calls.forEach(function (call) {
      var row = call.row;
      var label = (several.source ? row.source + " · " : several.process_id ? choice.process(about, row.process_id) + " · " : "") +
        "thread " + (row.thread || "unknown") + (row.nested ? " · inside others" : "");
      var lane = parts.isAlone(about, call) ? lanes.lane(1, label + " · no device record") : lanes.lane(0, label);
      lane.bars.push(callBar(call, base));
      drawn.push({ call: call, lane: lane });
    });
    var joins = queues(lanes, drawn, view, base);
    var all = lanes.all();
    var ends = extent(all);
    window.akvLanes.draw(box, {
      from: ends[0], to: ends[1], kinds: KINDS, views: views(view, base), question: question, zero: "the start of the first call shown, by the host's clock", lanes: all,
      windows: window_(view, base), links: links(joins, all),
      summary: summary(view, all), footer: [lines.join("; ") + " · " + joined(joins, view)].concat(about.footer),
    });
  }

  /* The records on their queues; for each, what it is to be joined with. */
  function queues(lanes, drawn, view, base) {
    var every = parts.recordsOf(view).concat(view.lone || []);
    var devices = distinct(every, "device") > 1;
    var lane = function (group, record) {
      var device = devices ? "device " + record.device + " · " : "";
      return lanes.lane(group, device + "queue " + (record.queue || "unknown") + " · " + record.kind + (group === 3 ? " · no call" : ""));
    };
    var joins = [];
    drawn.forEach(function (one) {
      parts.byStart(one.call.records).forEach(function (record, n) {
        if (record.start_ns === null) return;
        var to = lane(2, record);
        to.bars.push(recordBar(record, base));
        joins.push({ first: n === 0, from: one, to: to, record: record, start: one.call.row.start_ns - base, end: record.start_ns - base });
      });
    });
    (view.lone || []).forEach(function (record) {
      if (record.start_ns !== null) lane(3, record).bars.push(recordBar(record, base));
    });
    return joins;
  }

  function links(joins, all) {
    var kept = joins.length > LINES ? joins.filter(function (join) {
      return join.first;
    }) : joins;
    return kept.map(function (join) {
      return {
        from: { lane: all.indexOf(join.from.lane), time: join.start }, to: { lane: all.indexOf(join.to), time: join.end },
        label: "associated by " + join.record.made_by,
      };
    });
  }

  function joined(joins, view) {
    var by = Array.from(
      new Set(
        joins.map(function (join) {
          return join.record.made_by;
        })
      )
    );
    var off = parts.recordsOf(view).filter(function (record) {
      return record.start_ns === null;
    }).length;
    return (by.length ? "a line joins what is associated by " + by.join(", ") + ", and says no more" : "nothing on the device is associated with these calls") +
      (joins.length > LINES ? "; of a call with several records the first alone is joined" : "") +
      (off ? "; " + choice.counted(off, "record is", "records are") + " not on the host's axis, and not drawn" : "");
  }

  /* What is marked behind the bars: the step, or the call that was chosen. */
  function window_(view, base) {
    var row = view.step || view.call;
    if (!row || row.start_ns === null) return [];
    var end = row.duration_ns === null ? null : row.start_ns + row.duration_ns - base;
    return [{ start: row.start_ns - base, end: end, label: view.step ? "the step" : "the call chosen" }];
  }

  /* The drawing begins with what it shows of calls and records: the step may be longer than this page of its calls. */
  function extent(all) {
    var low = Infinity;
    var high = -Infinity;
    all.forEach(function (lane) {
      lane.bars.forEach(function (bar) {
        low = Math.min(low, bar.start - (bar.startBound || 0));
        high = Math.max(high, bar.start, bar.end === null ? bar.start : bar.end + (bar.endBound || 0));
      });
    });
    return [low, high];
  }

  function views(view, base) {
    var step = window_(view, base)[0];
    return view.step && step && step.end !== null ? [{ label: "the step", from: step.start, to: step.end }] : [];
  }

  function summary(view, all) {
    var records = parts.recordsOf(view).length;
    return choice.counted(view.calls.length, "call") + ", with " + choice.counted(records, "associated device record") + ", on " + choice.counted(all.length, "lane") +
      (view.lone && view.lone.length ? "; " + choice.counted(view.lone.length, "device record has", "device records have") + " no call" : "") + ". The table of calls has the same.";
  }

  window.akvCallLanes = { draw: draw };
})();
