/* The lanes under a token's life: what each bar is, and what is said of it. */
(function () {
  "use strict";

  if (window.akvLifeLanes) return;

  var time = window.akvChoice.time;
  var bound = window.akvChoice.bound;

  function nameOf(about, segment) {
    if (segment.to === segment.from + 1) return about.segments[segment.from];
    return "unknown: " + about.milestones[segment.from].word + " to " + about.milestones[segment.to].word;
  }

  /* Which milestones of a stretch are not on record, and what would have them. */
  function missingOf(segment) {
    if (!segment.missing.length) return "";
    var words = segment.missing.map(function (milestone) {
      return milestone.word;
    });
    var tells = segment.missing
      .map(function (milestone) {
        return milestone.tells;
      })
      .filter(function (teller, n, all) {
        return all.indexOf(teller) === n;
      });
    return "no " + words.join(", no ") + " on record; " + tells.join(" and ") + " would tell";
  }

  /* Where a token's text came out with a later one, the time until then is the wait for that one. */
  function heldOf(about, segment, held) {
    if (!held || about.milestones[segment.to].name !== "detokenised") return "";
    return ", held back, came out with token " + held.token.number + (held.token.step === null ? "" : " (step " + held.token.step + ")");
  }

  /* From the first to the last device record of its step: the stretch says nothing of what lay in it. */
  function onDevice(about, segment) {
    return about.milestones[segment.from].device && about.milestones[segment.to].device;
  }

  function saidOf(about, segment, held) {
    var early = segment.end < segment.start ? ", out of order" : "";
    var ends = [bound(segment.startBound), bound(segment.endBound)];
    var missing = missingOf(segment);
    return (
      nameOf(about, segment) + heldOf(about, segment, held) + ": " + time(segment.end - segment.start) + early + (missing ? " (" + missing + ")" : "") +
      (onDevice(about, segment) ? "; " + about.alike : "") + "; its ends " + (ends[0] === ends[1] ? ends[0] : ends.join(" and "))
    );
  }

  function barsOf(about, segments, zero, onpick, held) {
    return segments.map(function (segment) {
      return {
        start: segment.start - zero,
        end: segment.end - zero,
        startBound: segment.startBound,
        endBound: segment.endBound,
        kind: nameOf(about, segment),
        hollow: segment.missing.length > 0,
        title: saidOf(about, segment, held),
        onpick: onpick,
      };
    });
  }

  function plain(row, zero, words, label) {
    return {
      start: Number(row.start_ns) - zero,
      end: row.duration_ns === null ? null : Number(row.start_ns) - zero + Number(row.duration_ns),
      startBound: 0,
      endBound: 0,
      plain: true,
      label: label,
      title: words + ": " + (row.duration_ns === null ? "no end on record" : time(row.duration_ns)),
    };
  }

  /* Rows by what they have in a column or in several, in the order in which they come. */
  function by(rows, key) {
    var found = new Map();
    rows.forEach(function (row) {
      var name = key(row);
      if (!found.has(name)) found.set(name, []);
      found.get(name).push(row);
    });
    return found;
  }

  function threads(rows, word, zero, words, label) {
    var found = by(rows, function (row) {
      return word + (row.thread === null ? "" : ", thread " + row.thread);
    });
    return Array.from(found, function (one) {
      return {
        label: one[0],
        rows: one[1],
        bars: one[1].map(function (row) {
          return plain(row, zero, words(row), label ? row.name : null);
        }),
      };
    });
  }

  /* A time of the device is on the host's axis only where its clock allows it. */
  function queues(rows, zero, how) {
    var placed = rows.filter(function (row) {
      return row.start_ns !== null;
    });
    var found = by(placed, function (row) {
      return "device " + row.device + ", queue " + row.queue + how;
    });
    return Array.from(found, function (one) {
      return {
        label: one[0],
        rows: one[1],
        bars: one[1].map(function (row) {
          return {
            start: row.start_ns - zero,
            end: row.end_ns === null ? null : row.end_ns - zero,
            startBound: row.start_bound_ns,
            endBound: row.end_bound_ns,
            plain: true,
            title: (row.kind === "span" ? "stretch between two timing events, not work: " : row.kind + " ") + row.name + ": " + time(row.duration_ns) + (row.made_by ? ", associated by " + row.made_by : ", associated by its time alone") + "; its ends " + bound(row.start_bound_ns),
          };
        }),
      };
    });
  }

  /* Calls and the device records associated with them; `lanes` as they are drawn. */
  function links(lanes, zero) {
    var calls = new Map();
    lanes.forEach(function (lane, n) {
      if (lane.of !== "calls") return;
      lane.rows.forEach(function (row) {
        calls.set(row.place, { lane: n, time: Number(row.start_ns) - zero });
      });
    });
    var found = [];
    lanes.forEach(function (lane, n) {
      if (lane.of !== "intervals") return;
      lane.rows.forEach(function (row) {
        var from = calls.get(row.call_id);
        if (from) found.push({ from: from, to: { lane: n, time: row.start_ns - zero }, label: "associated by " + row.made_by });
      });
    });
    return found;
  }

  function of(kind, lanes) {
    lanes.forEach(function (lane) {
      lane.of = kind;
    });
    return lanes;
  }

  /* What akvLanes draws of a token. `pick(place)` chooses another token. */
  function spec(about, row, segments, found, pick) {
    var zero = segments.length ? segments[0].start : found.steps.length ? Number(found.steps[0].start_ns) : 0;
    var own = { label: row.request + ", token " + row.number, bars: barsOf(about, segments, zero, null, found.held) };
    var lead = leadIn(about, found.before, zero);
    if (lead && segments.length) own.bars.unshift(lead);
    var others = found.others.rows
      .filter(function (other) {
        return other.place !== row.place;
      })
      .map(function (other) {
        return {
          label: other.request + ", token " + other.number,
          bars: barsOf(about, window.akvLifeData.segments(other, about.milestones), zero, function () {
            pick(other.place);
          }),
        };
      });
    var lanes = [own]
      .concat(found.steps.map(stepLane.bind(null, zero)))
      .concat(meanwhile(found, zero))
      .concat(of("phases", threads(found.phases.rows, "phases", zero, nameOfRow, true)))
      .concat(of("calls", threads(found.calls.rows, "calls", zero, callOfRow)))
      .concat(of("intervals", queues(found.intervals.rows, zero, "")))
      .concat(queues(found.inTime.rows, zero, ", by time"))
      .concat(others);
    return {
      lanes: lanes,
      kinds: about.segments,
      links: links(lanes, zero),
      views: views(about, segments, found, zero),
    };
  }

  function nameOfRow(row) {
    return row.name;
  }

  function callOfRow(row) {
    return row.name + (row.ran ? " of " + row.ran : "") + " (" + row.kind + ", " + window.akvChoice.counted(row.intervals, "device record") + ")";
  }

  function stepLane(zero, step) {
    var words = step.name + (step.warm_up ? ", warm-up" : "");
    return { label: "step " + step.number + ", " + step.source, bars: [plain(step, zero, words, step.name)] };
  }

  /* The steps that ran while it waited for its own, and while its text was held back. */
  function meanwhile(found, zero) {
    return [
      { label: "steps while it waited", of: found.waited },
      { label: "steps until it was seen", of: found.held && found.held.steps },
    ]
      .filter(function (one) {
        return one.of && one.of.rows.length;
      })
      .map(function (one) {
        return {
          label: one.label,
          bars: one.of.rows.map(function (step) {
            return plain(step, zero, "step " + step.number + ", " + step.name, String(step.number));
          }),
        };
      });
  }

  /* From the end of the token before to this one: no part of this life, and nothing where the two overlap. */
  function leadIn(about, before, zero) {
    var last = endOf(about, before);
    if (last === null || last >= zero) return null;
    return {
      start: last - zero,
      end: 0,
      startBound: 0,
      endBound: 0,
      plain: true,
      label: "before it",
      title: "since the life of the token before ended: " + time(zero - last) + ", no part of this life",
    };
  }

  function endOf(about, row) {
    var segments = row ? window.akvLifeData.segments(row, about.milestones) : [];
    return segments.length ? segments[segments.length - 1].end : null;
  }

  function views(about, segments, found, zero) {
    var made = [];
    var add = function (label, from, to) {
      if (from !== null && to !== null && to > from) made.push({ label: label, from: from - zero, to: to - zero });
    };
    if (segments.length) add("life", segments[0].start, segments[segments.length - 1].end);
    found.steps.slice(0, 1).forEach(function (step) {
      if (step.duration_ns !== null) add("step", Number(step.start_ns), Number(step.start_ns) + Number(step.duration_ns));
    });
    var device = segments.filter(onDevice.bind(null, about))[0];
    if (device) add("device records", device.start, device.end);
    return made;
  }

  window.akvLifeLanes = { spec: spec, nameOf: nameOf, missingOf: missingOf, heldOf: heldOf, endOf: endOf, onDevice: onDevice };
})();
