/* What is said of calls and of what is associated with them: the calls as a table, what stands alone, the device records. */
(function () {
  "use strict";

  if (window.akvCallParts) return;

  var NAMED = 4; // links in a cell
  var LONG = 60; // letters of a name in a cell
  var LONE = 8; // calls with no record that are listed by themselves
  var RECORDS = 400; // device records in the table

  var choice = window.akvChoice;
  var element = choice.element;
  var time = window.akvChoice.time;

  function hash(of) {
    return "#" + new URLSearchParams(of).toString();
  }

  /* A name in a cell: shortened, more of it as its title, and all of it in its row. */
  function nameOf(name, tag) {
    var title = name && name.length > LONG ? window.akvChoice.short(name, 600) : null;
    return element(tag || "code", { title: title }, window.akvChoice.short(name, LONG));
  }

  function callLink(place, words) {
    return element("a", { href: hash({ call: place }) }, words === undefined ? String(place) : words);
  }

  function rowsLink(about, of, words) {
    return element("a", { href: about.page + hash(of) }, words);
  }

  function byStart(records) {
    return records.slice().sort(function (a, b) {
      return (a.start_ns === null) - (b.start_ns === null) || a.start_ns - b.start_ns || a.place - b.place;
    });
  }

  function isAlone(about, call) {
    return about.expects.indexOf(call.row.kind) >= 0 && !call.records.length && !call.row.intervals && call.twin === null;
  }

  // The table of calls

  /* Time covered by records, each moment once; null where one has no time. */
  function covered(records) {
    var total = 0;
    var to = -Infinity;
    var known = byStart(records).every(function (record) {
      if (record.start_ns === null || record.end_ns === null) return false;
      total += Math.max(0, record.end_ns - Math.max(record.start_ns, to));
      to = Math.max(to, record.end_ns);
      return true;
    });
    return known ? total : null;
  }

  function recordsCell(about, call) {
    var cell = element("td", {});
    var count = call.records.length;
    if (!count) {
      if (call.row.intervals) cell.append(call.row.intervals + ", not looked up");
      else if (call.twin !== null && about.expects.indexOf(call.row.kind) >= 0) cell.append("none found so far, in either row");
      else cell.append(about.expects.indexOf(call.row.kind) >= 0 ? "none on record" : "none expected");
      return cell;
    }
    cell.append(rowsLink(about, { of: "intervals", call_id: call.records[0].call_id }, String(count)), ", by " + ways(call));
    if (count > 1) {
      var all = covered(call.records);
      cell.append("; all of this one call" + (all === null ? "" : ", covering " + time(all)));
    }
    return cell;
  }

  function ways(call) {
    return Array.from(
      new Set(
        call.records.map(function (record) {
          return record.made_by + (record.call_id === call.row.place ? "" : ", of the same call at the other tool");
        })
      )
    ).join("; ");
  }

  /* From the start of the call's row that has the record to the start of the first record. */
  function delay(call) {
    if (!call.records.length) return "";
    var record = byStart(call.records)[0];
    var row = record.call_id === call.row.place ? call.row : call.twinRow;
    if (record.start_ns === null || !row || row.start_ns === null) return "unknown: not on the host's axis";
    var ns = record.start_ns - row.start_ns;
    return time(ns) + ", " + window.akvChoice.bound(record.start_bound_ns) + (ns < 0 ? ": begins before its call on this axis, kept as it is" : "");
  }

  function inside(row) {
    return row.open ? "never returned" : time(row.duration_ns);
  }

  /* Whether the call held the host by its name, or since its caller asked it to; one inside another is no time of its own. */
  function held(row) {
    return (row.kind === "wait" || row.blocking) && !row.nested ? ", holding the host" : "";
  }

  function unnamed(row) {
    if (row.kind !== "wait" && !row.blocking) return "nothing";
    return row.queue ? "queue " + window.akvChoice.short(row.queue, LONG) + ", no event named" : "no event named";
  }

  function waitsCell(call) {
    var cell = element("td", {});
    var makers = Array.from(
      new Set(
        call.waits
          .filter(function (wait) {
            return wait.maker_id !== null;
          })
          .map(function (wait) {
            return wait.maker_id;
          })
      )
    );
    var unknown = call.waits.length - call.waits.filter(function (wait) {
      return wait.maker_id !== null;
    }).length;
    makers.slice(0, NAMED).forEach(function (maker, n) {
      cell.append(n ? ", " : "events of ", callLink(maker, "call " + maker));
    });
    if (makers.length > NAMED) cell.append(" and " + (makers.length - NAMED) + " more");
    if (unknown) cell.append((makers.length ? "; " : "") + unknown + " whose call is not known");
    if (!call.waits.length) cell.append(call.row.waits ? call.row.waits + ", not looked up" : unnamed(call.row));
    return cell;
  }

  function kindCell(call) {
    var ran = call.row.ran;
    var cell = element("td", {}, call.row.kind + (call.row.nested ? ", inside another call" : ""));
    if (ran) cell.append(" of ", nameOf(ran, "span"));
    return cell;
  }

  /* Its row, and that of the same call at the other tool. */
  function placeCell(call) {
    var cell = element("td", {}, callLink(call.row.place));
    if (call.twin !== null) cell.append(" and ", callLink(call.twin), ": one call");
    return cell;
  }

  function line(about, view, call) {
    var row = call.row;
    var made = element(
      "tr", { "aria-current": view.call && view.call.place === row.place ? "true" : null },
      placeCell(call), element("td", {}, element("a", { href: hash({ name: row.name }) }, nameOf(row.name))),
      kindCell(call), element("td", {}, inside(row) + held(row)), recordsCell(about, call), element("td", {}, delay(call)), waitsCell(call),
      element("td", {}, nameOf(row.thread || null, "span")), element("td", {}, row.start_ns === null ? "unknown" : time(row.start_ns))
    );
    if (view.call) made.insertBefore(element("td", {}, call.why || ""), made.cells[1]);
    return made;
  }

  function scrolled(label, head, lines, caption) {
    var top = element("tr", {});
    head.forEach(function (name) {
      top.append(element("th", { scope: "col" }, name));
    });
    var body = element("tbody", {});
    lines.forEach(function (one) {
      body.append(one);
    });
    var table = element("table", { class: "akv-table" }, element("caption", {}, caption), element("thead", {}, top), body);
    return element("div", { class: "akv-scroll akv-tall", role: "group", "aria-label": label, tabindex: "0" }, table);
  }

  function table(about, view) {
    var head = [
      "row", "call", "kind", "time inside", "device records", "from its start to the first of theirs", "waits for", "thread", "start",
    ];
    if (view.call) head.splice(1, 0, "why it is here");
    return scrolled(
      "calls", head,
      view.calls.map(function (call) {
        return line(about, view, call);
      }),
      "Calls, each as it was recorded: no estimate. Starts count from the run's first step, or its first record where it has none"
    );
  }

  // What stands alone

  function alone(about, view) {
    var calls = view.calls.filter(function (call) {
      return isAlone(about, call);
    });
    var box = element("section", { class: "akv-alone" });
    box.append(element("p", {}, element("strong", {}, "Calls with no device record: "), element("span", {}, told(about, calls))));
    if (calls.length && about.records) box.append(listed(calls));
    box.append(element("p", {}, element("strong", {}, "Device records with no call: "), element("span", {}, toldRecords(view))));
    if (view.lone && view.lone.length) box.append(recordsTable(about, view.lone, "device records with no call"));
    return box;
  }

  function told(about, calls) {
    if (!calls.length) return "none of those shown that are expected to have one.";
    var names = new Map();
    calls.forEach(function (call) {
      names.set(call.row.name, (names.get(call.row.name) || 0) + 1);
    });
    var each = Array.from(names, function (one) {
      return one[1] + " " + window.akvChoice.short(one[0], LONG);
    }).join(", ");
    return calls.length + " of those shown are expected to have one and have none on record (" + each + "). That nothing ran for them is not said by it.";
  }

  /* The first of them, with what is on record of each. */
  function listed(calls) {
    var list = element("ul", {});
    calls.slice(0, LONE).forEach(function (call) {
      var row = call.row;
      var because = row.open ? ", which never returned" : row.result ? ", whose result was " + row.result : row.nested ? ", inside another call" : "";
      list.append(element("li", {}, callLink(row.place, "call " + row.place), " ", nameOf(row.name), because));
    });
    if (calls.length > LONE) list.append(element("li", {}, calls.length - LONE + " more, in the table of calls"));
    return list;
  }

  function toldRecords(view) {
    if (!view.step) return "no call leads to them; choose a step, whose time they can lie in, or see the tables of this page.";
    if (view.lone === null) return "not known, since the step has no end on record.";
    if (!view.lone.length) return "none began in the time of this step, as far as they are on the host's axis.";
    return view.lone.length + " began in the time of this step. What asked for them was not recorded.";
  }

  function recordsTable(about, records, caption) {
    return scrolled(
      caption, ["row", "kind", "name", "queue", "start", "end", "associated by", "call"],
      records.slice(0, RECORDS).map(function (record) {
        return element(
          "tr", {},
          element("td", { class: "akv-number" }, rowsLink(about, { of: "intervals", row: record.place }, String(record.place))),
          element("td", {}, record.kind), element("td", {}, nameOf(record.name)), element("td", {}, nameOf(record.queue || null, "span")),
          element("td", {}, at(record.start_ns, record.start_bound_ns)), element("td", {}, at(record.end_ns, record.end_bound_ns)),
          element("td", {}, record.made_by || "nothing"),
          element("td", {}, record.call_id === null ? "none on record" : callLink(record.call_id))
        );
      }),
      caption[0].toUpperCase() + caption.slice(1) + (records.length > RECORDS ? ", the first " + RECORDS + " of " + records.length : "")
    );
  }

  function at(ns, bound) {
    return ns === null ? "not on the host's axis" : time(ns) + ", " + window.akvChoice.bound(bound);
  }

  function recordsOf(view) {
    return byStart(
      view.calls.reduce(function (all, call) {
        return all.concat(call.records);
      }, [])
    );
  }

  function records(about, view) {
    var all = recordsOf(view);
    if (!all.length) return null;
    var summary = element("summary", {}, choice.counted(all.length, "device record") + " of these calls");
    return element("details", { class: "akv-fold", open: !!view.call }, summary, recordsTable(about, all, "device records of these calls"));
  }

  window.akvCallParts = {
    table: table, alone: alone, records: records, byStart: byStart, isAlone: isAlone, recordsOf: recordsOf, delay: delay, inside: inside,
  };
})();
