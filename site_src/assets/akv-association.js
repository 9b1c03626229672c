/* Runtime calls of a step, of a name, or one of them: which device records are associated with each, how that is known, and
 * what is associated with nothing. What is chosen is #step=PLACE, #name=CALL or #call=PLACE, and page=N, from 1; of a step
 * with all=yes those calls too that are expected to have no record. */
(function () {
  "use strict";

  var MORE = 12; // files of rows that are read at once to look for what is associated

  var element = window.akvChoice.element;
  var counted = window.akvChoice.counted;

  /* Only the choice itself: what was chosen before goes. */
  function choice(of) {
    return Object.assign({ step: null, name: null, call: null, page: null, all: null }, of);
  }

  function lists(about) {
    var names = ["calls", "intervals", "twins", "waits", "steps", "pairs"];
    return Promise.all(
      names.map(function (name) {
        return window.akvRows.open(about.rows + name);
      })
    ).then(function (opened) {
      var found = {};
      names.forEach(function (name, n) {
        found[name] = opened[n];
      });
      return found;
    });
  }

  // What is chosen

  /* Where nothing is chosen: the longest step that has calls; without one, the step of the middle device record or call, or
     the first name that launches. */
  function first(own) {
    var taken = function (of, words) {
      own.unasked = "Nothing was chosen: " + words + ".";
      return of;
    };
    if (own.about.first !== null) return Promise.resolve(taken({ step: String(own.about.first) }, "this is the longest step that has calls"));
    var records = own.lists.intervals.rows > 0;
    var from = records ? own.lists.intervals : own.lists.calls;
    return from.at(Math.floor(from.rows / 2)).then(function (row) {
      if (row && row.step_id !== null) {
        var of = "the step of the " + (records ? "device record" : "call") + " in the middle of those on record";
        return taken({ step: String(row.step_id) }, "this is " + of + ", since no step with calls has an end after the cut of the warm-up");
      }
      return own.lists.calls.find({ kind: "launch" }, { count: 1 }).then(function (found) {
        if (found.rows.length) return taken({ name: found.rows[0].name }, "these are the calls of the first name that launches");
        return taken({ call: "0" }, "this is the first call on record");
      });
    });
  }

  function read(own) {
    var chosen = window.akvChoice.read();
    own.unasked = "";
    if (chosen.step !== undefined || chosen.name !== undefined || chosen.call !== undefined) return Promise.resolve(chosen);
    return first(own);
  }

  function place(text) {
    return /^\d{1,15}$/.test(text) ? Number(text) : -1;
  }

  function look(own, chosen, page, most) {
    var rows = window.akvCallRows;
    if (chosen.call !== undefined) return rows.single(own.lists, place(chosen.call), most);
    if (chosen.step !== undefined) return rows.step(own.lists, place(chosen.step), page, most, chosen.all ? null : own.about.expects);
    return rows.named(own.lists, chosen.name, page, most);
  }

  function show(own, most) {
    var asked = (own.asked = {});
    own.status.textContent = "Looking up the rows …";
    return read(own)
      .then(function (chosen) {
        var page = Math.max(0, (place(chosen.page || "1") || 1) - 1);
        return look(own, chosen, page, most).then(function (view) {
          if (own.asked !== asked) return;
          own.result.textContent = "";
          var there = view && !view.pages;
          own.status.textContent = there ? own.unasked : missing(chosen, view);
          reflect(own, chosen);
          if (there) render(own, Object.assign(view, { chosen: chosen, page: page, most: most }));
        });
      })
      .catch(function (error) {
        if (own.asked !== asked) return;
        own.result.textContent = "";
        own.status.textContent = "The rows could not be read: " + ((error && error.message) || error) + ".";
      });
  }

  function missing(chosen, view) {
    if (view) return "There is no page " + chosen.page + " of the calls of this step: it has " + counted(view.pages, "page") + ".";
    if (chosen.call !== undefined) return "There is no call " + chosen.call + " in this run.";
    if (chosen.step !== undefined) return "There is no step in row " + chosen.step + " of this run.";
    return "There is no call of that name, or no such page of them, in this run: " + shown(chosen.name) + ".";
  }

  function shown(name) {
    return window.akvChoice.short(name, 70);
  }

  // The controls

  function field(label, control) {
    return element("label", {}, element("span", {}, label), control);
  }

  function controls(own) {
    var names = element("select", { onchange: function () {
      if (names.selectedIndex) window.akvChoice.write(choice({ name: names.value }));
    } }, element("option", { value: "" }, "choose a name"));
    var choices = own.lists.calls.choices("name") || [];
    var labels = window.akvChoice.distinct(
      choices.map(function (one) {
        return one.value;
      }),
      70
    );
    choices.forEach(function (one, n) {
      names.append(element("option", { value: one.value }, labels[n] + " (" + one.rows.toLocaleString("en") + ")"));
    });
    own.names = names;
    own.number = element("input", { type: "number", step: "1", inputmode: "numeric" });
    own.call = element("input", { type: "number", min: "0", max: String(own.lists.calls.rows - 1), step: "1", inputmode: "numeric" });
    var form = element("form", { class: "akv-ask", onsubmit: function (event) {
      event.preventDefault();
      submitted(own);
    } }, field("Calls of a name", names));
    if (own.lists.steps.rows) form.append(field("of the step with number", own.number));
    form.append(field("or the call in row", own.call), element("button", { type: "submit", class: "akv-button akv-go" }, "Show"));
    return form;
  }

  /* What was changed last is what is meant. */
  function submitted(own) {
    if (own.call.value !== own.reflected.call) return window.akvChoice.write(choice({ call: own.call.value }));
    if (own.number.value === "" || own.number.value === own.reflected.number) return undefined;
    return own.lists.steps.find({ number: Number(own.number.value) }, { count: 20 }).then(function (found) {
      if (!found.rows.length) own.status.textContent = "There is no step with number " + own.number.value + " in this run.";
      else {
        own.alike = found.rows;
        window.akvChoice.write(choice({ step: found.rows[0].place }));
      }
    });
  }

  function reflect(own, chosen) {
    var at = Array.from(own.names.options).findIndex(function (option, n) {
      return n && option.value === chosen.name;
    });
    own.names.selectedIndex = Math.max(0, at);
    own.call.value = chosen.call || "";
    own.reflected = { call: own.call.value, number: "" };
    own.number.value = "";
  }

  // What is shown

  function stepName(row) {
    return row.number === null ? "step " + (row.name ? shown(row.name) : "in row " + row.place) : "step " + row.number;
  }

  function question(view) {
    if (view.call) return "What is associated with call " + view.call.place + ", " + shown(view.call.name) + "?";
    if (view.step) return "Which calls of " + stepName(view.step) + " are associated with which device records?";
    return "Which device records are associated with calls of " + shown(view.name) + "?";
  }

  /* Which of how many calls are shown, and what the reader has to know of them. */
  function said(view) {
    var PAGE = window.akvCallRows.PAGE;
    if (view.call) return ["The call and what is associated with it, with the calls on record just before and after it"];
    var firstShown = view.total ? PAGE * view.page + 1 : 0;
    var of = view.step ? "calls of " + stepName(view.step) : "rows of this name";
    var lines = [
      firstShown + " to " + Math.min(view.total, PAGE * (view.page + 1)) + " of " + view.total.toLocaleString("en") + " " + of +
        (view.step ? ", by start" : ", in the order of their listing"),
    ];
    if (view.besides) lines.push(counted(view.besides, "call") + " of it left out: of such no device record is expected, and none waits");
    if (view.cut) lines.push("the step has more calls than are held at once: its first are here");
    if (view.step && view.step.duration_ns === null) {
      lines.push("the step has no end on record: which calls and device records lie in it is not known, but for those that a row says it of");
    }
    if (view.same && view.same.length > 1) lines.push("two tools drew this step: the calls in either are shown");
    return lines;
  }

  /* What held the host in the whole step, in whichever of its pages it stands. */
  function heldLine(view) {
    if (!view.held) return null;
    if (!view.held.calls) return element("p", {}, "No call of this step held the host, by its name or by request.");
    var ns = window.akvChoice.time(view.held.ns);
    var back = view.held.open ? "; " + view.held.open + " more" + " never returned" : "";
    return element(
      "p", {},
      counted(view.held.calls - view.held.open, "call") + " of this step held the host, by name or by request: " + ns +
        " inside them, added up over threads as recorded" + back + ". What that time was spent for is not said by it."
    );
  }

  /* Steps that have the number that was asked for, where there are several: none of them is told to be the one meant. */
  function alike(own, view) {
    var rows = own.alike || [];
    var here = rows.some(function (row) {
      return view.step && row.place === view.step.place;
    });
    if (!here || rows.length < 2) return null;
    var line = element("p", {}, counted(rows.length, "step has", "steps have") + " number " + view.step.number + ": ");
    rows.forEach(function (row, n) {
      line.append(n ? ", " : "", element("a", { href: "#step=" + row.place }, "row " + row.place + " (" + row.source + ")"));
    });
    return line;
  }

  function pager(view) {
    var PAGE = window.akvCallRows.PAGE;
    var pages = Math.ceil((view.total || 0) / PAGE);
    if (view.call || pages < 2) return null;
    var button = function (words, to) {
      return element(
        "button",
        { type: "button", class: "akv-button", disabled: to < 0 || to >= pages || to === view.page, onclick: function () {
          window.akvChoice.write(choice(Object.assign({}, view.chosen, { page: to + 1 })));
        } },
        words
      );
    };
    return element(
      "div", { class: "akv-steps", role: "group", "aria-label": "pages of calls" },
      button("First", 0), button("Previous", view.page - 1),
      element("span", {}, "page " + (view.page + 1) + " of " + pages.toLocaleString("en")),
      button("Next", view.page + 1), button("Last", pages - 1)
    );
  }

  function neighbours(own, view) {
    if (!view.step) return null;
    var at = view.step.place;
    var link = function (to, words) {
      return to < 0 || to >= own.lists.steps.rows ? null : element("a", { href: "#step=" + to }, words);
    };
    var steps = "../steps/" + encodeURIComponent(own.about.run) + ".html#step=" + at;
    return element(
      "p", { class: "akv-steps" }, link(at - 1, "Step before"), " ", link(at + 1, "Step after"), " ",
      element("a", { href: steps }, "Where its time went")
    );
  }

  /* The calls that are not among those shown, with a link to all. */
  function besides(view) {
    if (!view.besides && !view.chosen.all) return null;
    var to = { step: view.step.place, all: view.besides ? "yes" : null };
    var words = view.besides ? "All calls of the step, those too that are expected to have no device record" : "Without the calls that are expected to have no device record";
    return element("p", {}, element("a", { href: window.akvChoice.address(to) }, words));
  }

  function deeper(own, view) {
    if (!view.left) return null;
    return element(
      "p", {},
      counted(view.left, "more file") + " of rows, not read so far, may hold what is associated with these calls. ",
      element("button", { type: "button", class: "akv-button", onclick: function () {
        show(own, view.most * 4);
      } }, "Read further")
    );
  }

  function render(own, view) {
    var parts = window.akvCallParts;
    var lines = said(view);
    var box = element("div", {});
    [
      element("p", { class: "akv-said" }, lines.join("; ") + "."),
      alike(own, view), heldLine(view), neighbours(own, view), view.step ? besides(view) : null, pager(view), deeper(own, view), box,
      parts.alone(own.about, view), parts.table(own.about, view), parts.records(own.about, view),
    ].forEach(function (part) {
      if (part) own.result.append(part);
    });
    window.akvCallLanes.draw(box, own.about, view, question(view), lines);
  }

  window.akvReaders = window.akvReaders || {};
  window.akvReaders.association = function (box, about) {
    var own = { about: about };
    return lists(about).then(function (found) {
      own.lists = found;
      own.status = element("p", { class: "akv-status", role: "status" });
      own.result = element("div", {});
      var form = controls(own);
      box.textContent = "";
      box.append(form, own.status, own.result);
      window.akvChoice.listen(box, function () {
        show(own, MORE);
      });
      return show(own, MORE);
    });
  };
})();
