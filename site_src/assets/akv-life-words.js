/* What stands under the drawing of a token: its segments, what happened to its request, what is not known, where to go on. */
(function () {
  "use strict";

  if (window.akvLifeWords) return;

  var choice = window.akvChoice;
  var element = choice.element;
  var time = choice.time;

  function kindOf(numbers, n) {
    return numbers.indexOf(n) < 0 ? null : "akv-number";
  }

  /* `numbers`: which columns hold numbers. */
  function table(caption, columns, rows, numbers) {
    var head = element("tr");
    var body = element("tbody");
    columns.forEach(function (name, n) {
      head.append(element("th", { scope: "col", class: kindOf(numbers, n) }, name));
    });
    rows.forEach(function (row) {
      var line = element("tr");
      row.forEach(function (value, n) {
        line.append(element("td", { class: kindOf(numbers, n) }, value));
      });
      body.append(line);
    });
    return element(
      "div",
      { class: "akv-scroll", role: "group", "aria-label": caption, tabindex: "0" },
      element("table", { class: "akv-table" }, element("caption", {}, caption), element("thead", {}, head), body)
    );
  }

  function exact(ns) {
    return ns.toLocaleString("en") + " ns";
  }

  function share(part, whole) {
    return whole > 0 ? ((100 * part) / whole).toFixed(2) + " %" : "unknown";
  }

  /* A segment's name, and a link to the token that its end was shared with. */
  function heldLink(name, about, segment, held) {
    var said = window.akvLifeLanes.heldOf(about, segment, held);
    if (!said) return name;
    return element("span", {}, name, element("a", { href: choice.address({ token: held.token.place }) }, said));
  }

  function segmentsOf(about, segments, sums, around) {
    var rows = segments.map(function (segment) {
      var length = segment.end - segment.start;
      var missing = window.akvLifeLanes.missingOf(segment);
      var name = window.akvLifeLanes.nameOf(about, segment) + (length < 0 ? ", out of order" : "");
      return [
        heldLink(name + (missing ? " (" + missing + ")" : ""), about, segment, around.held),
        exact(length),
        share(length, sums.life),
        about.milestones[segment.from].word,
        about.milestones[segment.to].word,
        choice.bound(segment.startBound) + ", " + choice.bound(segment.endBound),
      ];
    });
    var unknown = sums.holes ? [exact(sums.unknown), share(sums.unknown, sums.life)] : ["none", "none"];
    rows.push(["unknown inside, in all"].concat(unknown, ["", "", ""]));
    rows.push(["the life", exact(sums.life), share(sums.life, sums.life), "", "", ""]);
    var caption = "Segments of this life: one record, no estimate. As read: a time of the host's own clock";
    return table(caption, ["segment", "length", "share of the life", "from", "to", "how well its two ends are known"], rows, [1, 2]);
  }

  function eventsOf(found, zero) {
    var rows = found.events.rows.map(function (event) {
      return [
        event.event,
        time(Number(event.at_ns) - zero),
        event.step === null ? "–" : String(event.step),
        event.tokens === null ? "–" : String(event.tokens),
      ];
    });
    var more = found.events.next === null ? "" : "; the first " + rows.length;
    return table("What happened to its request, from the beginning of this life" + more, ["what", "when", "step", "tokens"], rows, [2, 3]);
  }

  /* What is not known, not drawn, or easily misread: a line each. */
  function notesOf(about, lists, found, row, segments) {
    var notes = [];
    if (segments.length) notes.push(beginning(about, row, segments, found));
    var last = segments.length ? about.milestones[segments[segments.length - 1].to] : null;
    var end = about.milestones[about.milestones.length - 1];
    if (last && last !== end) notes.push("It is followed to “" + last.word + "”: " + end.word + " is not on record; " + end.tells + " would tell.");
    if (segments.some(window.akvLifeLanes.onDevice.bind(null, about))) notes.push(about.alike[0].toUpperCase() + about.alike.slice(1) + ".");
    notes = notes.concat(steps(found, row)).concat(waitedNote(found.waited, found.steps[0])).concat(heldNote(about, found.held, row));
    if (found.held && found.steps.length) notes = notes.concat(between(found.steps.slice(0, 1).concat(found.held.steps.rows)));
    ["phases", "calls", "intervals"].forEach(function (name) {
      notes = notes.concat(besides(about, lists, found, name));
    });
    notes = notes.concat(byTime(found));
    var homeless = found.intervals.rows.filter(function (one) {
      return one.start_ns === null;
    }).length;
    if (homeless) notes.push(choice.counted(homeless, "device record") + " of its step could not be brought to the host's axis, and not drawn.");
    return notes;
  }

  function beginning(about, row, segments, found) {
    if (row.number === 0 && segments[0].from === 0) return "It is its request's first token: its life begins at the request's arrival.";
    var last = window.akvLifeLanes.endOf(about, found.before);
    var begins = "Its life begins at “" + about.milestones[segments[0].from].word + "”. ";
    if (row.number === 0) return begins + "The arrival of its request is not on record.";
    if (last === null) return begins + "When the life of the token before ended is not known.";
    var apart = segments[0].start - last;
    return begins + (apart < 0
      ? "The life of the token before ended " + time(-apart) + " later: the two overlap."
      : "The life of the token before had ended " + time(apart) + " earlier; that wait is no part of this life.");
  }

  /* Why a step's number leads to no step. */
  function unnamed(row, numbered) {
    var count = numbered.steps.length;
    if (count) return choice.counted(count, "step has", "steps have") + " the number of its step, " + row.step + ": which of them made it is not known, and nothing is linked by it.";
    if (!numbered.any) return "Its step is number " + row.step + ", and the steps of its process have no numbers: nothing can be linked by it.";
    return "Its step, " + row.step + ", is not on record: nothing can be linked by it.";
  }

  function steps(found, row) {
    if (!found.steps.length) {
      return [row.step === null ? "Which step made it is not on record." : unnamed(row, found.numbered)];
    }
    var own = found.others.all;
    var notes = ["Its step made " + choice.counted(own, "token, this one alone.", "tokens, this one among them.")];
    if (own > found.others.rows.length) notes.push("Of these, " + (own - found.others.rows.length) + " are not drawn.");
    if (found.steps.length > 1) notes.push("Two sources drew that iteration; calls and device records may lie in the step of the other one.");
    if (found.steps[0].warm_up) notes.push("The step is declared as warm-up: it is in no number, and it is shown here as it was recorded.");
    return notes;
  }

  /* How many steps ran while it waited for its own, and which time between steps is in none of them. */
  function waitedNote(waited, own) {
    if (!own) return [];
    if (!waited.all) return waited.ns > Number(own.duration_ns || 0) ? ["It waited " + time(waited.ns) + " for its own step, and no step is on record in that time: what ran then is not known."] : [];
    var drawn = waited.all > waited.rows.length ? "; " + waited.rows.length + " of them are drawn" : "";
    return [choice.counted(waited.all, "step") + " ran, or began, while it waited for its own: associated by time alone" + drawn + "."].concat(between(waited.rows.concat(own)));
  }

  /* Steps in the order of time: where much of the time from the first to the last is in no step, how much and where most. */
  function between(steps) {
    var whole = 0;
    var out = 0;
    var most = { ns: 0, after: null, before: null };
    steps.slice(1).forEach(function (step, n) {
      var last = steps[n];
      if (last.duration_ns === null) return;
      var apart = Number(step.start_ns) - Number(last.start_ns) - Number(last.duration_ns);
      whole += Number(step.start_ns) - Number(last.start_ns);
      if (apart <= 0) return;
      out += apart;
      if (apart > most.ns) most = { ns: apart, after: last.number, before: step.number };
    });
    if (out * 20 < whole || !out) return [];
    var where = "between step " + most.after + " and step " + most.before;
    return ["In no step on record lie " + time(out) + " from the first of these steps to the last, " + (most.ns === out ? where : time(most.ns) + " of it " + where) + ": what ran then is not known."];
  }

  function heldNote(about, held, row) {
    if (!held) return [];
    var more = held.steps.all > held.steps.rows.length ? " Of the " + held.steps.all + " steps until it was seen " + held.steps.rows.length + " are drawn." : "";
    return ["It was detokenised at the same time as token " + held.token.number + " of its request: its text came with that one's, held back until then, and its time “until detokenised” is that wait. " + about.holds + " The phase of that name in its own step is another time." + more];
  }

  var KEPT = {
    phases: "the first",
    calls: "those with device records, then the longest",
    intervals: "the longest",
  };
  var WORDS = { phases: "runner phases", calls: "runtime calls", intervals: "device records" };

  function besides(about, lists, found, name) {
    var word = WORDS[name];
    if (!lists[name].rows) {
      var told = about.levels[name] ? " Level " + about.levels[name] + " would tell." : " Its level, " + about.level + ", would have them.";
      return ["Which " + word + " lay in its step is not known: the run has none on record." + told];
    }
    if (!found.steps.length) return [];
    var of = found[name];
    if (!of.all) return ["No " + word + " are linked with its step, out of " + lists[name].rows.toLocaleString("en") + " of the run: what is not on record may still have been."];
    if (of.all > of.rows.length) {
      return ["Of " + of.all.toLocaleString("en") + " " + word + " linked with its step " + of.rows.length + " are drawn: " + KEPT[name] + "."];
    }
    return [];
  }

  /* Device records without a call of the step, drawn by their time. */
  function byTime(found) {
    var of = found.inTime;
    if (!of.all) return [];
    var drawn = of.all > of.rows.length ? "; the " + of.rows.length + " longest are drawn" : "";
    return [choice.counted(of.all, "device record of no call on record begins", "device records of no call on record begin") + " in the time of its step: associated by time alone" + drawn + "."];
  }

  function linksOf(about, lists, found, row) {
    var page = about.page.split("/").pop();
    var links = [];
    var add = function (words, folder, chosen) {
      links.push(element("a", { href: "../" + folder + "/" + page + choice.address(chosen) }, words));
    };
    found.steps.forEach(function (step, n) {
      var words = found.steps.length > 1 ? " (" + step.source + ")" : "";
      add("its step" + words, "steps", { step: step.place });
      // A link that would open no row is not offered; that there is none is said below.
      if (found.calls.counts[n]) add("calls of its step" + words, "calls", { step: step.place });
      if (found.intervals.counts[n]) add("device records of its step" + words, "rows", { of: "intervals", step_id: step.place });
    });
    if (found.inTime.all) {
      add("device records in its step's time", "rows", { of: "intervals", step_id: "!", start_ns: found.inTime.from + ".." + found.inTime.to });
    }
    if (row.step_id !== null) add("tokens of its step", "rows", { of: "tokens", step_id: row.step_id });
    add("this row", "rows", { of: "tokens", row: row.place });
    add("tokens of its request", "rows", { of: "tokens", request: row.request });
    if (lists.events.rows) add("events of its request", "rows", { of: "events", request: row.request });
    return element("p", { class: "akv-links" }, "On to: ", joined(links));
  }

  function joined(links) {
    var made = element("span");
    links.forEach(function (link, n) {
      made.append(n ? " · " : "", link);
    });
    return made;
  }

  function alikeOf(about, found) {
    if (found.alike.length < 2) return null;
    var links = found.alike.map(function (one) {
      return element("a", { href: choice.address({ token: one.place }) }, choice.process(about, one.process_id) + ", row " + one.place);
    });
    return element("p", {}, "Several on record have this name, and the first of them is shown: ", joined(links));
  }

  function of(about, lists, found, segments, sums, around) {
    var made = element("div");
    var row = found.token;
    var notes = element("ul");
    notesOf(about, lists, around, row, segments).forEach(function (line) {
      notes.append(element("li", {}, line));
    });
    made.append(linksOf(about, lists, around, row));
    var alike = alikeOf(about, found);
    if (alike) made.append(alike);
    if (segments.length) made.append(segmentsOf(about, segments, sums, around));
    made.append(notes);
    if (around.events.rows.length) made.append(eventsOf(around, segments.length ? segments[0].start : 0));
    return made;
  }

  window.akvLifeWords = { of: of, share: share };
})();
