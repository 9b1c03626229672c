/* What is said under the drawing of a step: where its time went, its layers and phases, the device, gaps between records. */
(function () {
  "use strict";

  if (window.akvProfileParts) return;

  var SEEN = "seen in an instrumented capture, open until a control";
  var GAPS = 12; // gaps that are listed
  var NAMES = 3; // names of a kind under a gap; up to MORE of them once they are opened
  var MORE = 200;
  var PARTS = 16; // parts of a budget that have a line of their own

  var element = window.akvChoice.element;
  var time = window.akvChoice.time;
  var counted = window.akvChoice.counted;
  var short = window.akvProfile.short;

  function share(ns, whole) {
    return whole ? ((100 * ns) / whole).toFixed(1) + " %" : "unknown";
  }

  /* Numbers stand under each other. */
  function numeric(rows, n) {
    return rows.every(function (cells) {
      var words = typeof cells[n] === "string" ? cells[n] : cells[n].textContent;
      return /^$|^-?[\d.]+( (ns|us|ms|s|%))?$/.test(words);
    });
  }

  /* `below`: for each row what stands under it, as wide as the table: on a narrow screen a column of sentences has no room. */
  function table(caption, heads, rows, below) {
    var style = heads.map(function (_, n) {
      return numeric(rows, n) ? "akv-number" : null;
    });
    var body = element("tbody");
    rows.forEach(function (cells, at) {
      var line = element("tr");
      cells.forEach(function (cell, n) {
        line.append(element("td", { class: style[n] }, cell));
      });
      body.append(line);
      if (below) body.append(element("tr", {}, element("td", { colspan: heads.length }, below[at])));
    });
    var head = element("tr");
    heads.forEach(function (name, n) {
      head.append(element("th", { scope: "col", class: style[n] }, name));
    });
    return element(
      "div",
      { class: "akv-scroll", role: "group", "aria-label": caption, tabindex: "0" },
      element("table", { class: "akv-table" + (below ? " akv-prose" : "") }, element("caption", {}, caption), element("thead", {}, head), body)
    );
  }

  function line(words) {
    return element("p", {}, words);
  }

  /* A level that the run already has would tell nothing more. */
  function absent(about, what, level) {
    var would = about.levels.indexOf(level) < 0 ? " Level " + level + " would tell." : " Level " + level + " records it, which this run has, and nothing was recorded.";
    return line(what + " is not known: this run has none of it on record." + would);
  }

  /* A link to the rows behind a number. Of a very long name a part is enough. */
  function rows(about, words, listing, chosen) {
    var address = new URLSearchParams({ of: listing });
    Object.keys(chosen).forEach(function (column) {
      var value = chosen[column];
      var long = typeof value === "string" && value.length > 400;
      address.set(column, long ? "~" + value.slice(0, 300) : window.akvChoice.exactly(value));
    });
    return element("a", { href: about.page + "#" + address.toString(), title: words.length > 96 ? words.slice(0, 2000) : null }, short(words));
  }

  /* Whether any of the rows lies in the step; rows that were not read may. */
  function lies(rows, step) {
    return (
      !rows ||
      rows.some(function (row) {
        return row.step_id === step.place;
      })
    );
  }

  function budget(about, data) {
    if (!about.has.regions) return [absent(about, "Where the host's time in this step went", "host")];
    var made = [];
    data.steps.forEach(function (step) {
      var found = window.akvProfile.budget(data, step);
      if (!found.parts.length) return;
      var lines = found.parts.slice(0, PARTS).map(function (part) {
        var chosen = part.region === "layer windows" ? { category: "layer" } : { name: part.region };
        return [
          rows(about, part.region, "regions", Object.assign({ step_id: step.place }, chosen)),
          time(part.ns),
          share(part.ns, step.duration_ns),
        ];
      });
      var further = found.parts.slice(PARTS);
      if (further.length) {
        var ns = further.reduce(function (sum, part) {
          return sum + part.ns;
        }, 0);
        lines.push([rows(about, counted(further.length, "further part"), "regions", { step_id: step.place }), time(ns), share(ns, step.duration_ns)]);
      }
      lines.push(["remainder: not attributed", time(found.rest), found.rest === null ? "unknown" : share(found.rest, step.duration_ns)]);
      lines.push(["the step", time(step.duration_ns), ""]);
      made.push(table("Where the host's time went, in the step that " + step.source + " drew", ["part", "time", "share of the step"], lines));
    });
    return made.length ? made : [line("No region, layer window or operator lies on the thread of this step.")];
  }

  function layers(data) {
    var found = window.akvProfile.layers(data);
    if (!found.length) return [];
    var lines = found.map(function (one) {
      var inside = one.parts
        .map(function (part) {
          return short(part.name) + " " + time(part.ns);
        })
        .join(", ");
      return [String(one.row.layer), time(one.row.duration_ns), inside ? time(one.rest) : "", inside || "no region"];
    });
    var heads = ["layer", "window on the host", "in no region", "regions in it"];
    var none = found.every(function (one) {
      return !one.parts.length;
    });
    if (none) {
      heads.length = 2;
      lines.forEach(function (cells) {
        cells.length = 2;
      });
    }
    return [table("Layer windows of the step" + (none ? ": no region began in one" : ""), heads, lines)];
  }

  function phases(about, data) {
    if (!about.has.phases) return [absent(about, "How the step is spread over the runner's phases", "runner")];
    if (!data.phases.length) return [line("No phase of the runner began in this step.")];
    var zero = data.steps[0].start_ns;
    var lines = data.phases
      .slice()
      .sort(function (a, b) {
        return a.start_ns - b.start_ns;
      })
      .map(function (row) {
        return [rows(about, row.name, "phases", { step_id: row.step_id, row: row.place }), time(row.start_ns - zero), time(row.duration_ns)];
      });
    return [table("Runner phases of the step", ["phase", "begins after the step", "how long"], lines)];
  }

  function device(about, data) {
    if (!about.has.intervals) return [absent(about, "What the device did for this step", "device")];
    if (!data.intervals.length) {
      var spans = data.spans.length
        ? [line(stretches(data.spans.length) + " of this step " + (data.spans.length === 1 ? "is" : "are") + " on record, and drawn above: work and waiting lie in them alike.")]
        : [];
      var none = "No record of work on the device belongs to this step: what the device did is unknown, and not idle because nothing was recorded.";
      return [line(none + (about.has.calls || spans.length ? "" : " Level edge has the calls by which records are known to be of a step."))].concat(spans);
    }
    var words = "Time that kernels and copies of the step cover, each moment once, by one device clock. " + about.ticks.charAt(0).toUpperCase() + about.ticks.slice(1) + ".";
    if (about.blind) words += " Not everything that ran is known to be in the records: " + about.blind + ".";
    var lines = data.device_time.map(function (row) {
      var shorter = Math.min(row.kernel_duration_ns, row.copy_duration_ns);
      return [
        row.device + (row.clock ? " (its own clock)" : ""),
        row.kernels + ": " + (row.kernel_duration_ns === null ? "none on record" : time(row.kernel_duration_ns)),
        row.copies + ": " + (row.copy_duration_ns === null ? "none on record" : time(row.copy_duration_ns)),
        row.both_duration_ns === null ? "unknown: one kind only" : time(row.both_duration_ns) + ", " + share(row.both_duration_ns, shorter) + " of the shorter",
      ];
    });
    var heads = ["device", "kernels, and what they cover", "copies, and what they cover", "both at once"];
    var links = element("p", {});
    data.steps.forEach(function (step) {
      if (lies(data.intervals, step)) links.append(rows(about, "device records of the step that " + step.source + " drew", "intervals", { step_id: step.place }), " ");
    });
    return [line(words), lines.length ? table("Copies against kernels in the step: " + SEEN, heads, lines) : line("Neither a kernel nor a copy of it is on record."), links];
  }

  function stretches(count) {
    return count + (count === 1 ? " stretch between two timing events that lies in the time" : " stretches between two timing events that lie in the time");
  }

  function where(gap, zero) {
    if (gap.start_ns === null) return "has no place on the host's axis";
    return time(gap.start_ns - zero) + ", " + (gap.bound_ns === null ? "unproven" : window.akvChoice.bound(gap.bound_ns));
  }

  function meanwhile(seen, gap) {
    if (seen === null) return "on the host at that time: unknown, since the gap has no place on the host's axis";
    var made = element("span");
    var further = [];
    ["phases", "regions", "calls"].forEach(function (name) {
      var words = window.akvProfile.named(seen[name], gap);
      if (words.length) made.append(made.textContent ? "; " : "", name + ": " + words.slice(0, NAMES).join(", "));
      if (words.length > NAMES) further.push(name + ": " + words.slice(NAMES, MORE).join(", "));
      if (words.length > MORE) further.push(counted(words.length - MORE, "further name is", "further names are") + " in the rows of the " + name);
    });
    if (seen.cut) made.append(made.textContent ? "; " : "", "more rows than were looked at");
    if (further.length) made.append(element("details", { class: "akv-fold" }, element("summary", {}, "and more names"), further.join("; ")));
    if (!made.textContent) return "on the host at that time: nothing on record";
    made.prepend("on the host at that time: ");
    return made;
  }

  function gaps(about, data) {
    // Where no record of the step is, there is nothing between records.
    if (!about.has.intervals || !data.intervals.length) return Promise.resolve([]);
    if (about.blind) {
      return Promise.resolve([line("Where no record lies on a queue is not known to be idle, and no gap is told: " + about.blind + ".")]);
    }
    var found = window.akvProfile.gaps(about, data);
    var listed = found.told.slice(0, GAPS);
    var zero = data.steps[0].start_ns;
    return window.akvProfile.onHost(about, data, listed).then(function (seen) {
      var words =
        "Stretches without a record on one queue, while another may be at work, before a record of this step, " + listed.length + " of " + found.told.length + ", longest first; " +
        found.short + " are not longer than two ticks or the clock's bound, and are not told. What the host did is what lies there on its own axis: " +
        "at that time, which does not say that it is why.";
      if (!listed.length) return [line(words)];
      var lines = listed.map(function (gap, n) {
        return [
          rows(about, time(gap.duration_ns), "gaps", { row: gap.place }),
          short(gap.queue) + " of device " + short(gap.device),
          where(gap, zero),
        ];
      });
      var below = listed.map(function (gap, n) {
        return meanwhile(seen[n], gap);
      });
      return [line(words), table("Gaps on the device's queues", ["gap", "queue", "begins after the step"], lines, below)];
    });
  }

  function links(about, data) {
    var made = element("p", {}, "Rows of the step: ");
    var step = data.steps[0];
    made.append(rows(about, "the step", "steps", { row: step.place }));
    data.steps.forEach(function (one) {
      ["tokens", "phases", "regions", "calls", "intervals"].forEach(function (name) {
        if (about.has[name] && lies(data[name], one)) made.append(" · ", rows(about, name + " (" + one.source + ")", name, { step_id: one.place }));
      });
    });
    if (about.has.calls) {
      made.append(" · ", element("a", { href: about.calls + "#step=" + step.place }, "how its calls are associated"));
    }
    return made;
  }

  window.akvProfileParts = { line: line, links: links, budget: budget, layers: layers, phases: phases, device: device, gaps: gaps };
})();
